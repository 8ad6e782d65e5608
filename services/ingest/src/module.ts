import { join } from "node:path";
import { defineModule } from "@tidemark/host";
import { IngestReadService, IngestService } from "@tidemark/proto/ingest/v1/ingest";
import { implement } from "@tidemark/rpc";
import { compactRunData } from "./compaction/compact-run-data.ts";
import { ingestConfig, ingestReadConfig } from "./config.ts";
import { createIdSource } from "./domain/id-source.ts";
import { appendAttributesHandler } from "./handlers/append-attributes.ts";
import { appendLogLinesHandler } from "./handlers/append-log-lines.ts";
import { appendMetricsHandler } from "./handlers/append-metrics.ts";
import { listAttributesHandler } from "./handlers/list-attributes.ts";
import { listLogLinesHandler } from "./handlers/list-log-lines.ts";
import { listMetricPointsHandler } from "./handlers/list-metric-points.ts";
import { queryMetricSeriesHandler } from "./handlers/query-metric-series.ts";
import { startSettler } from "./settler.ts";
import { createRunDirectory } from "./store/run-directory.ts";

const migrations = { schema: "ingest", directory: join(import.meta.dirname, "store/migrations") };

/** Takes run data: metrics, console logs, attributes. */
export const ingestModule = defineModule({
  name: "ingest",
  config: ingestConfig,
  schema: "ingest",
  migrations,
  provides: [IngestService],
  needs: [],
  start(context) {
    const db = context.db();
    const compaction = compactRunData(context, context.config);
    const deps = {
      db,
      runs: createRunDirectory(db, context.config.runsRemembered),
      logMarks: compaction.logMarks,
      ids: createIdSource(() => context.now().getTime(), Math.random),
    };
    const handlers = {
      appendMetrics: appendMetricsHandler(deps),
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
  provides: [IngestReadService],
  needs: [],
  start(context) {
    const db = context.db();
    const deps = { db, runs: createRunDirectory(db, context.config.runsRemembered) };
    const handlers = {
      listMetricPoints: listMetricPointsHandler(deps),
      queryMetricSeries: queryMetricSeriesHandler(deps),
      listLogLines: listLogLinesHandler(deps),
      listAttributes: listAttributesHandler(deps),
    };
    return Promise.resolve({ implementations: [implement(IngestReadService, handlers)], ready: () => db.ping() });
  },
});
