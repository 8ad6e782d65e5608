import { setTimeout as pause } from "node:timers/promises";
import { startRounds, type Rounds } from "@tidemark/work";
import type { Db } from "@tidemark/pg";
import type { Log } from "@tidemark/telemetry";
import { listUnindexedRuns, indexSortValues, finishIndexing, type UnindexedRun } from "./sort-values.sql.ts";

/** A run is quiet when it was not written in this minute and the one before: longer than any write may take. */
const QUIET_MINUTES = 2;

const RUNS_PER_ROUND = 500;

/** Few keys at a time, because a write to the run waits while they are indexed. */
const KEYS_PER_STEP = 500;
/** A run whose keys fit into one step has a second step, which finds nothing more. */
const STEPS_OF_FEW_KEYS = 2;

/** Dependencies of a sort-value indexer. */
export type SortValueIndexerOptions = {
  /** With the service's role. */
  readonly db: Db;
  /** With the worker's role, which sees the runs of all organizations. */
  readonly workerDb: Db;
  /** Waits for a number of milliseconds. */
  readonly pauseFor?: (ms: number) => Promise<unknown>;
  /** Asked before each step: when true, the rest is left to the next round. */
  readonly isStopped?: () => boolean;
};

/**
 * Does one round: indexes the sort values of runs that have been quiet, and returns how many runs became indexed. For a run of many keys it pauses
 * as long as it works, because millions of values take PostgreSQL minutes, while other work needs it. Several processes may do so
 * simultaneously, and after a crash the next round continues: a run counts as indexed only once its last statement has committed.
 */
export async function indexQuietRuns(options: SortValueIndexerOptions): Promise<number> {
  const runs = await listUnindexedRuns(options.workerDb, QUIET_MINUTES, RUNS_PER_ROUND);
  let indexed = 0;
  for (const run of runs) if (await indexRun(run, options)) indexed += 1;
  return indexed;
}

async function indexRun(
  run: UnindexedRun,
  { db, pauseFor = pause, isStopped = () => false }: SortValueIndexerOptions,
): Promise<boolean> {
  let workedMs = 0;
  for (let after: string | null = "", steps = 0; after !== null; steps += 1) {
    if (steps >= STEPS_OF_FEW_KEYS) await pauseFor(workedMs);
    if (isStopped()) return false;
    const from: string = after;
    const started = performance.now();
    after = await db.withTenant(run.orgId, (tx) => indexSortValues(tx, run, from, KEYS_PER_STEP));
    workedMs = performance.now() - started;
  }
  return db.withTenant(run.orgId, (tx) => finishIndexing(tx, run));
}

const PERIOD_MS = 15_000;

/** Starts an indexer, which does a round now and every 15 seconds. `stop` ends it after the current step. */
export function startSortValueIndexer(
  options: Omit<SortValueIndexerOptions, "isStopped"> & { readonly log: Pick<Log, "warn"> },
): Pick<Rounds, "stop"> {
  return startRounds({
    everyMs: PERIOD_MS,
    async round(isStopped) {
      // A full round means that there are more.
      for (let indexed = RUNS_PER_ROUND; indexed === RUNS_PER_ROUND && !isStopped();)
        indexed = await indexQuietRuns({ ...options, isStopped });
    },
    onError: (error) =>
      options.log.warn("the sort values of runs could not be indexed; the next round tries again", { error }),
  });
}
