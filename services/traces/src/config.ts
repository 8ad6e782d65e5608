import { defineConfig, int, sharedFields } from "@tidemark/config";

/** Settings of the traces service. */
export const tracesConfig = defineConfig({
  runsRemembered: int({
    env: "TIDEMARK_TRACES_RUNS_REMEMBERED",
    help: "Runs whose organization and project the process keeps in memory, about 250 bytes each.",
    default: 50_000,
    min: 1,
    max: 10_000_000,
  }),
  cacheMib: int({
    env: "TIDEMARK_TRACES_CACHE_MIB",
    help: "Memory for the spans of traces that are being written or read: about 200 bytes a span. What does not fit is read again.",
    default: 128,
    min: 1,
    max: 65_536,
  }),
  compactAfterSeconds: int({
    env: "TIDEMARK_TRACES_COMPACT_AFTER_SECONDS",
    help: "Seconds without new events after which a trace that arrived in several requests is compacted.",
    default: 60,
    min: 1,
    max: 3600,
  }),
  limits: sharedFields.limits,
  removalSeconds: sharedFields.removalSeconds,
  plansFile: sharedFields.plansFile,
});
