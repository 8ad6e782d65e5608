import type { Db } from "@tidemark/pg";
import type { Log } from "@tidemark/telemetry";
import { listUnsettledRuns, settleHeads, settleRun, type UnsettledRun } from "./store/settle-runs.ts";

/** A run is settled when it was not written in this minute and the one before: longer than any write may take. */
const QUIET_MINUTES = 2;

const RUNS_PER_ROUND = 500;

/** Few heads at a time: a write to the run waits for these. */
const KEYS_PER_STEP = 500;

/** What a settler needs. */
export type SettlerOptions = {
  /** As the service's role. */
  readonly db: Db;
  /** As the worker's role, which sees the runs of all organizations. */
  readonly workerDb: Db;
};

/**
 * One round: brings the values by which lists are sorted up to date for runs that have been quiet.
 * Safe in several processes at once, and after a crash the next round goes on: a run counts as
 * settled only when the last statement of it has committed. Returns how many were settled.
 */
export async function settleQuietRuns({ db, workerDb }: SettlerOptions): Promise<number> {
  const runs = await listUnsettledRuns(workerDb, QUIET_MINUTES, RUNS_PER_ROUND);
  let settled = 0;
  for (const run of runs) if (await settle(db, run)) settled += 1;
  return settled;
}

async function settle(db: Db, run: UnsettledRun): Promise<boolean> {
  for (let after: string | null = ""; after !== null;) {
    const from: string = after;
    after = await db.withTenant(run.orgId, (tx) => settleHeads(tx, run, from, KEYS_PER_STEP));
  }
  return db.withTenant(run.orgId, (tx) => settleRun(tx, run));
}

const PERIOD_MS = 15_000;

/** Settles now and every 15 seconds. `stop` ends it after the run in hand. */
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
        settled = await settleQuietRuns(options);
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
