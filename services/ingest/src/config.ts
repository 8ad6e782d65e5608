import { defineConfig, int, sharedFields } from "@tidemark/host/config";

/** Settings of the module that stores run data. */
export const ingestConfig = defineConfig({
  runsRemembered: sharedFields.runsRemembered,
  compactAfterSeconds: int({
    env: "TIDEMARK_INGEST_COMPACT_AFTER_SECONDS",
    help: "Seconds after which new metrics and console lines are compacted even if they are few; many are compacted sooner. Tests take less.",
    default: 60,
    min: 1,
    max: 3600,
  }),
  limits: sharedFields.limits,
  removalSeconds: sharedFields.removalSeconds,
  plansFile: sharedFields.plansFile,
});

/** Settings of the module that reads run data. */
export const ingestReadConfig = defineConfig({
  runsRemembered: sharedFields.runsRemembered,
});
