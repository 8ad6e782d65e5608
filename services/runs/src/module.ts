import { randomBytes, randomUUID } from "node:crypto";
import { join } from "node:path";
import { startChangePublisher } from "@tidemark/bus";
import { defineModule } from "@tidemark/host";
import { startRounds } from "@tidemark/work";
import { startRemover, type MigrationSet } from "@tidemark/pg";
import type { PlanTarget } from "@tidemark/limits";
import { gateOfSettings, loadPlans } from "@tidemark/requests";
import { RunsArchiveService } from "@tidemark/proto/runs/v1/archive";
import { RunsRestoreService } from "@tidemark/proto/runs/v1/restore";
import { RunsService } from "@tidemark/proto/runs/v1/runs";
import { Quota, UsageService } from "@tidemark/proto/usage/v1/usage";
import { implement } from "@tidemark/rpc";
import { archiveHandlers } from "./read/export-runs.ts";
import { createColumnKeeper, createSortKeyAsks } from "./columns/sorted-columns.ts";
import { runsConfig } from "./config.ts";
import { createDeletionPropagator } from "./deletion/deletion-propagator.ts";
import { runsHandlers } from "./handlers.ts";
import { createKeyCatalogue } from "./keys/key-catalogue.ts";
import { createRunCopier } from "./copy/run-copier.ts";
import { createRunFollower } from "./move/run-follower.ts";
import { createStaleness } from "./life/staleness.rules.ts";
import { beginDueRemovals, removeRuns } from "./removal/remove-runs.ts";
import { restoreHandlers } from "./create/restore-runs.ts";
import { createSearchThreads } from "./regex-search/search-threads.ts";

/** Schema `runs`: projects, runs, and the parts that other services may read. */
export const runsMigrations: MigrationSet = {
  schema: "runs",
  directory: join(import.meta.dirname, "store"),
};

/** Threads for searches with regular expressions: two, so that one long search does not hold all others; each takes a database connection. */
const SEARCH_THREADS = 2;

/** Projects whose runs do not all follow them because a process ended wait this long for another process. */
const SETTLE_EVERY_MS = 10_000;

/** Columns that another process left unfinished are made ready within this time. */
const KEEP_COLUMNS_EVERY_MS = 30_000;

/** Projects and runs. */
export const runsModule = defineModule({
  name: "runs",
  config: runsConfig,
  schema: "runs",
  migrations: runsMigrations,
  reads: [
    "artifacts.artifacts_v1",
    "artifacts.copy_run_v1",
    "artifacts.copy_sizes_v1",
    "artifacts.follow_runs_v1",
    "artifacts.run_counts_v1",
    "control.record_audit_v1",
    "imports.follow_runs_v1",
    "ingest.attribute_paths_v1",
    "ingest.attribute_values_v1",
    "ingest.copy_run_v1",
    "ingest.copy_sizes_v1",
    "ingest.finish_copy_v1",
    "ingest.follow_runs_v1",
    "ingest.metric_aggregates_v1",
    "ingest.metric_columns_v1",
    "ingest.metric_keys_v1",
    "ingest.move_points_v1",
    "ingest.newest_attributes_v1",
    "ingest.project_points_v1",
    "ingest.project_series_v1",
    "ingest.run_points_v1",
    "ingest.note_sort_v1",
    "ingest.sort_keys_v1",
    "ingest.sort_values_v1",
    "ingest.unindexed_sort_values_v2",
    "traces.copy_run_v1",
    "traces.copy_sizes_v1",
    "traces.follow_runs_v1",
  ],
  provides: [RunsService, RunsArchiveService, RunsRestoreService],
  needs: [{ module: "usage", service: UsageService, optional: true }],
  start(context) {
    const db = context.db();
    const { limits, plansFile, runStaleSeconds } = context.config;
    const plans = loadPlans(plansFile);
    const searchThreads = createSearchThreads({
      connection: context.connection(),
      threads: SEARCH_THREADS,
    });
    const sortKeys = createSortKeyAsks(db, (error) => context.log.warn("a sort key could not be asked for", { error }));
    const onFailed = (error: unknown): void =>
      context.log.warn("columns that tables are sorted by could not be kept", { error });
    const columnKeeper = createColumnKeeper({ db, begin: () => void keptColumns.begin(), onFailed });
    const keptColumns = startRounds({
      everyMs: KEEP_COLUMNS_EVERY_MS,
      isFirstNow: false,
      round: columnKeeper.round,
      onError: onFailed,
    });
    const keyCatalogue = createKeyCatalogue({
      db,
      nowMs: Date.now,
      onFailed: (error) => context.log.warn("the keys of a project could not be counted", { error }),
    });
    const staleness = createStaleness({ staleMs: runStaleSeconds * 1000, nowMs: Date.now });
    const heldPlans = limits ? plans : undefined;
    const deletionPropagator = createDeletionPropagator({ db, log: context.log });
    const propagations = startRounds({
      everyMs: SETTLE_EVERY_MS,
      isFirstNow: false,
      round: deletionPropagator.round,
      onError: (error) => context.log.warn("projects that changed could not be looked for", { error }),
    });
    const runFollower = createRunFollower({ db, log: context.log });
    const follows = startRounds({
      everyMs: SETTLE_EVERY_MS,
      isFirstNow: false,
      round: runFollower.round,
      onError: (error) => context.log.warn("runs that moved could not be looked for", { error }),
    });
    const workerDb = context.workerDb();
    const changes = startChangePublisher({
      bus: context.bus,
      id: randomBytes(6).toString("hex"),
      steadyMs: () => performance.now(),
    });
    const runCopier = createRunCopier({ db, workerDb, log: context.log, noteChange: changes.note });
    const copies = startRounds({
      everyMs: SETTLE_EVERY_MS,
      isFirstNow: false,
      round: runCopier.round,
      onError: (error) => context.log.warn("copies of runs could not be looked for", { error }),
    });
    const remover = startRemover({
      db: workerDb,
      service: "runs",
      before: () => beginDueRemovals(workerDb),
      remove: (removal) => removeRuns(workerDb, removal),
      seconds: context.config.removalSeconds,
      log: context.log,
    });
    const gateOf = (target: PlanTarget, quota: Quota) =>
      gateOfSettings(context.config, { target, quota, usage: context.client(UsageService), log: context.log });
    const handlers = runsHandlers({
      db,
      noteChange: changes.note,
      searchThreads,
      plans: heldPlans,
      storageGate: gateOf("storage", Quota.STORAGE),
      pointGate: gateOf("metric_points", Quota.METRIC_POINTS),
      eventGate: gateOf("trace_events", Quota.TRACE_EVENTS),
      newId: randomUUID,
      sortKeys,
      keyCatalogue,
      columnKeeper,
      staleness,
      deletionPropagator,
      runFollower,
      runCopier,
      graceDays: context.config.deletionGraceDays,
    });
    return Promise.resolve({
      implementations: [
        implement(RunsService, handlers),
        implement(RunsArchiveService, archiveHandlers({ db, staleness })),
        implement(RunsRestoreService, restoreHandlers({ db, plans: heldPlans, noteChange: changes.note })),
      ],
      ready: () => db.ping(),
      stop: async () => {
        columnKeeper.stop();
        await Promise.all([
          keptColumns.stop(),
          propagations.stop(),
          deletionPropagator.stop(),
          follows.stop(),
          runFollower.stop(),
          copies.stop(),
          runCopier.stop(),
          remover.stop(),
          searchThreads.close(),
        ]);
        changes.stop();
      },
    });
  },
});
