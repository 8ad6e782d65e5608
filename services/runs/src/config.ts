import { defineConfig, int, sharedFields } from "@tidemark/host/config";

/** Settings of the runs service. */
export const runsConfig = defineConfig({
  limits: sharedFields.limits,
  removalSeconds: sharedFields.removalSeconds,
  plansFile: sharedFields.plansFile,
  deletionGraceDays: sharedFields.deletionGraceDays,
  runStaleSeconds: int({
    env: "TIDEMARK_RUN_STALE_SECONDS",
    help: "Seconds without a write or a poll after which a running run is shown as stale. Signs of life arrive each minute.",
    default: 600,
    min: 120,
    max: 31_536_000,
  }),
});
