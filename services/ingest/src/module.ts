import { join } from "node:path";
import { defineModule } from "@tidemark/host";
import { IngestReadService, IngestService } from "@tidemark/proto/ingest/v1/ingest";
import { implement, toRefusal } from "@tidemark/rpc";
import { compactRunData } from "./compaction/compact-run-data.ts";
import { ingestConfig, ingestReadConfig } from "./config.ts";
import { createIdSource } from "./domain/id-source.ts";
import { createMetricWriter } from "./group-commit/metric-writer.ts";
import { appendAttributesHandler } from "./handlers/append-attributes.ts";
import { appendLogLinesHandler } from "./handlers/append-log-lines.ts";
import { appendMetricsTogetherHandler } from "./handlers/append-metrics-together.ts";
import { appendMetricsHandler } from "./handlers/append-metrics.ts";
import { appendRankMetricsHandler } from "./handlers/append-rank-metrics.ts";
import { listAttributesHandler } from "./handlers/list-attributes.ts";
import { listLogLinesHandler } from "./handlers/list-log-lines.ts";
import { listMetricPointsHandler } from "./handlers/list-metric-points.ts";
import { queryMetricSeriesHandler } from "./handlers/query-metric-series.ts";
import { summariseRankMetricsHandler } from "./handlers/summarise-rank-metrics.ts";
import { startSettler } from "./settler.ts";
import { createRankLayouts } from "./store/rank-layouts.ts";
import { createRunDirectory } from "./store/run-directory.ts";

const migrations = { schema: "ingest", directory: join(import.meta.dirname, "store/migrations") };

const MIB = 1024 * 1024;

/** Takes run data: metrics, console logs, attributes. */
export const ingestModule = defineModule({
  name: "ingest",
  config: ingestConfig,
  schema: "ingest",
  migrations,
  reads: ["runs.run_refs_v1"],
  provides: [IngestService],
  needs: [],
  start(context) {
    const db = context.db();
    const compaction = compactRunData(context, context.config);
    const deps = {
      db,
      runs: createRunDirectory(db, context.config.runsRemembered),
      metricWriter: createMetricWriter({
        db,
        marks: compaction.metricMarks,
        nowMs: () => performance.now(),
        cacheBytes: context.config.metricCacheMib * MIB,
        queueBytes: context.config.metricQueueMib * MIB,
        metrics: context.metrics,
      }),
      logMarks: compaction.logMarks,
      rankLayouts: createRankLayouts(),
      rankMarks: compaction.rankMarks,
      ids: createIdSource(() => context.now().getTime(), Math.random),
    };
    const appendMetrics = appendMetricsHandler(deps);
    const handlers = {
      appendMetrics,
      appendMetricsTogether: appendMetricsTogetherHandler({
        append: appendMetrics,
        refusalOf: toRefusal,
        onUnknownError: (error) => context.log.error("a metric write failed unexpectedly", { error }),
      }),
      appendRankMetrics: appendRankMetricsHandler(deps),
      appendLogLines: appendLogLinesHandler(deps),
      appendAttributes: appendAttributesHandler(deps),
    };
    const settler = startSettler({ db, workerDb: context.workerDb(), log: context.log });
    return Promise.resolve({
      implementations: [implement(IngestService, handlers)],
      ready: () => db.ping(),
      drain: () => compaction.stop(),
      stop: () => settler.stop(),
    });
  },
});

/** Reads run data back; a process of its own where reads and writes shall not disturb each other. */
export const ingestReadModule = defineModule({
  name: "ingest-read",
  config: ingestReadConfig,
  schema: "ingest",
  migrations,
  reads: ["runs.run_refs_v1"],
  provides: [IngestReadService],
  needs: [],
  start(context) {
    const db = context.db();
    const deps = { db, runs: createRunDirectory(db, context.config.runsRemembered) };
    const handlers = {
      listMetricPoints: listMetricPointsHandler(deps),
      queryMetricSeries: queryMetricSeriesHandler(deps),
      summariseRankMetrics: summariseRankMetricsHandler(deps),
      listLogLines: listLogLinesHandler(deps),
      listAttributes: listAttributesHandler(deps),
    };
    return Promise.resolve({ implementations: [implement(IngestReadService, handlers)], ready: () => db.ping() });
  },
});
