import { defineConfig, int, sharedFields } from "@tidemark/host/config";

/** Settings of the traces service. */
export const tracesConfig = defineConfig({
  compactAfterSeconds: int({
    env: "TIDEMARK_TRACES_COMPACT_AFTER_SECONDS",
    help: "Seconds without new events after which a trace that arrived in several requests is compacted. Tests take less.",
    default: 60,
    min: 1,
    max: 3600,
  }),
  limits: sharedFields.limits,
  removalSeconds: sharedFields.removalSeconds,
  plansFile: sharedFields.plansFile,
  runsRemembered: sharedFields.runsRemembered,
});
