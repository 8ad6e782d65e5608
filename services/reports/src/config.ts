import { defineConfig, int, sharedFields } from "@tidemark/host/config";

const DAY_SECONDS = 86_400;

/** Settings of the reports service. */
export const reportsConfig = defineConfig({
  limits: sharedFields.limits,
  removalSeconds: sharedFields.removalSeconds,
  plansFile: sharedFields.plansFile,
  shareTtlSeconds: int({
    env: "TIDEMARK_SHARE_TTL",
    help: "Seconds that a share link of a report is valid after it was made; 0: without end.",
    default: 30 * DAY_SECONDS,
    min: 0,
    max: 3650 * DAY_SECONDS,
  }),
});
