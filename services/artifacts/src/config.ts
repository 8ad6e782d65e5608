import { defineConfig, int, sharedFields } from "@tidemark/config";

/** Settings of the service of artifacts. */
export const artifactsConfig = defineConfig({
  limits: sharedFields.limits,
  removalSeconds: sharedFields.removalSeconds,
  plansFile: sharedFields.plansFile,
  runsRemembered: int({
    env: "TIDEMARK_ARTIFACTS_RUNS_REMEMBERED",
    help: "Runs whose organization and project the process keeps in memory, about 250 bytes each.",
    default: 50_000,
    min: 1,
    max: 10_000_000,
  }),
  graceDays: int({
    env: "TIDEMARK_ARTIFACT_GRACE_DAYS",
    help: "Days that the bytes of a deleted or expired artifact version are kept.",
    default: 7,
    min: 0,
    max: 3650,
  }),
  sweepSeconds: int({
    env: "TIDEMARK_ARTIFACT_SWEEP_SECONDS",
    help: "Seconds between two looks for uploads, versions and bytes that are no longer needed.",
    default: 60,
    min: 1,
    max: 86_400,
  }),
});
