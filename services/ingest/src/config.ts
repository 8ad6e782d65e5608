import { defineConfig, int, sharedFields } from "@tidemark/config";

const runsRemembered = (env: string) =>
  int({
    env,
    help: "Runs whose organization and project the process keeps in memory, about 250 bytes each.",
    default: 50_000,
    min: 1,
    max: 10_000_000,
  });

/** Settings of the module that stores run data. */
export const ingestConfig = defineConfig({
  runsRemembered: runsRemembered("TIDEMARK_INGEST_RUNS_REMEMBERED"),
  metricCacheMib: int({
    env: "TIDEMARK_INGEST_METRIC_CACHE_MIB",
    help: "Memory for the aggregates and key numbers of runs that are being written: about 80 bytes a metric key. What does not fit is read again.",
    default: 64,
    min: 1,
    max: 65_536,
  }),
  metricQueueMib: int({
    env: "TIDEMARK_INGEST_METRIC_QUEUE_MIB",
    help: "Memory for metrics that were received and are not stored yet; an organization has four fifths of it at most, less beside others. Writes beyond it are refused with 503.",
    default: 64,
    min: 1,
    max: 65_536,
  }),
  compactAfterSeconds: int({
    env: "TIDEMARK_INGEST_COMPACT_AFTER_SECONDS",
    help: "Seconds after which new metrics and console lines are compacted even if they are few; many are compacted sooner.",
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
  runsRemembered: runsRemembered("TIDEMARK_INGEST_READ_RUNS_REMEMBERED"),
  seriesThreads: int({
    env: "TIDEMARK_INGEST_READ_SERIES_THREADS",
    help: "Threads for series that are smoothed or drawn by another axis than steps, each with up to 300 MB; they start when first needed.",
    default: 1,
    min: 1,
    max: 64,
  }),
});
