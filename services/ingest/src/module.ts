import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { startChangePublisher } from "@tidemark/bus";
import { defineModule } from "@tidemark/host";
import { startRemover } from "@tidemark/pg";
import { IngestArchiveService } from "@tidemark/proto/ingest/v1/archive";
import { IngestReadService, IngestService } from "@tidemark/proto/ingest/v1/ingest";
import { IngestRestoreService } from "@tidemark/proto/ingest/v1/restore";
import { RunsService } from "@tidemark/proto/runs/v1/runs";
import { Quota, UsageService } from "@tidemark/proto/usage/v1/usage";
import { createRunDirectory, gateOfSettings, watchRuns, withStorage } from "@tidemark/requests";
import { POINT_BYTES } from "@tidemark/limits";
import { implement, toRefusal } from "@tidemark/rpc";
import { compactRunData } from "./compaction/compact-run-data.ts";
import { ingestConfig, ingestReadConfig } from "./config.ts";
import { archiveHandlers, readHandlers, restoreHandlers, writeHandlers } from "./handlers.ts";
import { createSeriesThreads } from "./metrics/columns/series-threads.ts";
import { startSortKeyFiller } from "./metrics/sort-values/sort-key-filler.ts";
import { startSortValueIndexer } from "./metrics/sort-values/sort-value-indexer.ts";
import { searchRunsOf } from "./objects/explore-objects.ts";
import { createMetricWriter } from "./metrics/write/metric-writer.ts";
import { createRankLayouts } from "./rank-metrics/rank-reports.rules.ts";
import { removeRunData } from "./removal/removal.ts";
import { createIdSource } from "./writes/writes.rules.ts";
import { findRunRefs, readRunChanges } from "./runs/run-refs.sql.ts";

const migrations = { schema: "ingest", directory: join(import.meta.dirname, "store") };

const MIB = 1024 * 1024;
/** Memory for the aggregates and key numbers of runs that are being written: about 80 bytes a metric key. What does not fit is read again. */
const METRIC_CACHE_BYTES = 64 * MIB;
/**
 * Memory for metrics that were received and are not stored yet; an organization has four fifths of it at most, less next
 * to others. Writes beyond it are refused with 503: more would only wait longer for the database.
 */
const METRIC_QUEUE_BYTES = 64 * MIB;
/** Threads for series that are smoothed or drawn by another axis than steps. One, because each takes up to 300 MB. */
const SERIES_THREADS = 1;

/** Stores run data: metrics, rank metrics, console logs, attributes, objects. */
export const ingestModule = defineModule({
  name: "ingest",
  config: ingestConfig,
  schema: "ingest",
  migrations,
  reads: [
    "artifacts.artifacts_v1",
    "runs.kept_paths_v1",
    "runs.note_attributes_v1",
    "runs.note_tags_v1",
    "runs.run_refs_v1",
    "runs.visibility_changes_v1",
  ],
  provides: [IngestService, IngestRestoreService],
  needs: [{ module: "usage", service: UsageService, optional: true }],
  start(context) {
    const db = context.db();
    const compaction = compactRunData(context, context.config);
    const changes = startChangePublisher({
      bus: context.bus,
      id: randomBytes(6).toString("hex"),
      steadyMs: () => performance.now(),
    });
    const gateOf = (target: "metric_points" | "storage", quota: Quota) =>
      gateOfSettings(context.config, { target, quota, usage: context.client(UsageService), log: context.log });
    const storageGate = gateOf("storage", Quota.STORAGE);
    const deps = {
      db,
      runs: createRunDirectory(
        (orgId, ids) => db.withTenant(orgId, (tx) => findRunRefs(tx, orgId, ids)),
        context.config.runsRemembered,
      ),
      metricWriter: createMetricWriter({
        db,
        markers: compaction.metricMarkers,
        random: Math.random,
        cacheBytes: METRIC_CACHE_BYTES,
        queueBytes: METRIC_QUEUE_BYTES,
        metrics: context.metrics,
        noteChange: changes.note,
      }),
      noteChange: changes.note,
      logMarkers: compaction.logMarkers,
      rankLayouts: createRankLayouts(),
      rankMarkers: compaction.rankMarkers,
      pointGate: withStorage(gateOf("metric_points", Quota.METRIC_POINTS), storageGate, POINT_BYTES),
      storageGate,
      refusalOf: toRefusal,
      log: context.log,
      ids: createIdSource(() => context.now().getTime(), Math.random),
    };
    const workerDb = context.workerDb();
    const watch = watchRuns({
      read: (since) => readRunChanges(db, since),
      log: context.log,
      nowMs: () => performance.now(),
    });
    const indexer = startSortValueIndexer({ db, workerDb, log: context.log });
    const filler = startSortKeyFiller({ db, workerDb, log: context.log });
    const remover = startRemover({
      db: workerDb,
      service: "ingest",
      remove: (removal) => removeRunData(workerDb, removal),
      seconds: context.config.removalSeconds,
      log: context.log,
    });
    return Promise.resolve({
      implementations: [
        implement(IngestService, writeHandlers(deps)),
        implement(IngestRestoreService, restoreHandlers(deps)),
      ],
      ready: () => db.ping(),
      drain: () => compaction.stop(),
      stop: async () => {
        changes.stop();
        await Promise.all([watch.stop(), indexer.stop(), filler.stop(), remover.stop()]);
      },
    });
  },
});

/** Reads run data. It can be a separate process, so that reads and writes do not disturb each other. */
export const ingestReadModule = defineModule({
  name: "ingest-read",
  config: ingestReadConfig,
  schema: "ingest",
  migrations,
  worker: false,
  reads: [
    "artifacts.artifacts_v1",
    "runs.project_refs_v1",
    "runs.run_labels_v1",
    "runs.run_refs_v1",
    "runs.visibility_changes_v1",
  ],
  provides: [IngestReadService, IngestArchiveService],
  needs: [{ module: "runs", service: RunsService }],
  start(context) {
    const db = context.db();
    const deps = {
      db,
      runs: createRunDirectory(
        (orgId, ids) => db.withTenant(orgId, (tx) => findRunRefs(tx, orgId, ids)),
        context.config.runsRemembered,
      ),
      searchRuns: searchRunsOf(context.client(RunsService)),
      runsOfCharts: context.client(RunsService),
      seriesThreads: createSeriesThreads(SERIES_THREADS),
    };
    const watch = watchRuns({
      read: (since) => readRunChanges(db, since),
      log: context.log,
      nowMs: () => performance.now(),
    });
    return Promise.resolve({
      implementations: [
        implement(IngestReadService, readHandlers(deps)),
        implement(IngestArchiveService, archiveHandlers(deps)),
      ],
      ready: () => db.ping(),
      stop: async () => void (await Promise.all([watch.stop(), deps.seriesThreads.close()])),
    });
  },
});
