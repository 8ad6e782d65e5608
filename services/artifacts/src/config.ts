import { defineConfig, int, sharedFields } from "@tidemark/host/config";

/** Settings of the service of artifacts. */
export const artifactsConfig = defineConfig({
  limits: sharedFields.limits,
  removalSeconds: sharedFields.removalSeconds,
  plansFile: sharedFields.plansFile,
  runsRemembered: sharedFields.runsRemembered,
  graceDays: int({
    env: "TIDEMARK_ARTIFACT_GRACE_DAYS",
    help: "Days that the bytes of a deleted or expired artifact version are kept.",
    default: 7,
    min: 0,
    max: 3650,
  }),
});
