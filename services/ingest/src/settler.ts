import { setTimeout as pause } from "node:timers/promises";
import type { Db } from "@tidemark/pg";
import type { Log } from "@tidemark/telemetry";
import { listUnsettledRuns, settleHeads, settleRun, type UnsettledRun } from "./store/settle-runs.ts";

/** A run is settled when it was not written in this minute and the one before: longer than any write may take. */
const QUIET_MINUTES = 2;

const RUNS_PER_ROUND = 500;

/** Few heads at a time: a write to the run waits for these. */
const KEYS_PER_STEP = 500;
/** A run whose keys fit into one step has a second one, which finds nothing more. */
const STEPS_OF_FEW_KEYS = 2;

/** What a settler needs. */
export type SettlerOptions = {
  /** As the service's role. */
  readonly db: Db;
  /** As the worker's role, which sees the runs of all organizations. */
  readonly workerDb: Db;
  /** Waits so many milliseconds. */
  readonly rest?: (ms: number) => Promise<unknown>;
  /** Asked before each step; the rest is left to the next round. */
  readonly isStopped?: () => boolean;
};

/**
 * One round: brings the values by which lists are sorted up to date for runs that have been quiet. With a run of many keys it rests
 * as long as it works, because millions of copies are minutes of work for PostgreSQL, and others want it meanwhile.
 * Safe in several processes at once, and after a crash the next round goes on: a run counts as
 * settled only when the last statement of it has committed. Returns how many were settled.
 */
export async function settleQuietRuns(options: SettlerOptions): Promise<number> {
  const runs = await listUnsettledRuns(options.workerDb, QUIET_MINUTES, RUNS_PER_ROUND);
  let settled = 0;
  for (const run of runs) if (await settle(run, options)) settled += 1;
  return settled;
}

async function settle(
  run: UnsettledRun,
  { db, rest = pause, isStopped = () => false }: SettlerOptions,
): Promise<boolean> {
  let workedMs = 0;
  for (let after: string | null = "", steps = 0; after !== null; steps += 1) {
    if (steps >= STEPS_OF_FEW_KEYS) await rest(workedMs);
    if (isStopped()) return false;
    const from: string = after;
    const started = performance.now();
    after = await db.withTenant(run.orgId, (tx) => settleHeads(tx, run, from, KEYS_PER_STEP));
    workedMs = performance.now() - started;
  }
  return db.withTenant(run.orgId, (tx) => settleRun(tx, run));
}

const PERIOD_MS = 15_000;

/** Settles now and every 15 seconds. `stop` ends it after the step in hand. */
export function startSettler(options: SettlerOptions & { readonly log: Log }): { stop(): Promise<void> } {
  const { log } = options;
  let stopped = false;
  let round = Promise.resolve();
  let running = false;
  const work = async (): Promise<void> => {
    running = true;
    try {
      // A full round means that there is more.
      for (let settled = RUNS_PER_ROUND; settled === RUNS_PER_ROUND && !stopped;)
        settled = await settleQuietRuns({ ...options, isStopped: () => stopped });
    } catch (error) {
      log.warn("runs could not be settled; it is tried again", { error });
    } finally {
      running = false;
    }
  };
  const begin = (): void => {
    if (!running) round = work();
  };
  begin();
  const timer = setInterval(begin, PERIOD_MS);
  timer.unref();
  return {
    stop: () => {
      stopped = true;
      clearInterval(timer);
      return round;
    },
  };
}
