import { setTimeout as pause } from "node:timers/promises";
import { startRounds, type Rounds } from "@tidemark/work";
import type { Db } from "@tidemark/pg";
import type { Log } from "@tidemark/telemetry";
import {
  claimSortKey,
  deleteOldSortKeys,
  fillSortKey,
  releaseSortKey,
  type AskedSortKey,
  type FillOutcome,
} from "./sort-values.sql.ts";

/** How long a claim lasts after its latest step; a step takes some milliseconds. */
const LEASE_SECONDS = 15;
/** Few at a time: writes of these runs wait for the step. */
const RUNS_PER_STEP = 100;

/** A filler works this many times as long as it pauses. */
const WORK_PER_PAUSE = 4;
/** Writes take milliseconds, so a write that does not know of a sort key ends soon. */
const WAIT_MS = 20;
/** After this many waits other sort keys are filled, and this one again after some seconds: a transaction may take long. */
const WAITS_MAX = 50;
const RETRY_SECONDS = 2;

/** Dependencies of a filler. */
export type SortKeyFillerOptions = {
  /** With the service's role. */
  readonly db: Db;
  /** With the worker's role, which sees the sort keys of all organizations. */
  readonly workerDb: Db;
  readonly log: Pick<Log, "info">;
  /** Waits for a number of milliseconds. */
  readonly pauseFor?: (ms: number) => Promise<unknown>;
  /** Asked before each step: when true, the rest is left to other processes. */
  readonly isStopped?: () => boolean;
};

/**
 * Does one round: makes requested sort keys ready, one after another, and returns how many became ready. Between the steps of a key it pauses
 * a little, so that writes are not delayed. Several processes may do so simultaneously: each takes different sort keys. After a crash the
 * next round continues where the last step ended, once the claim has run out.
 */
export async function fillSortKeys(options: SortKeyFillerOptions): Promise<number> {
  const { workerDb, isStopped = () => false } = options;
  let ready = 0;
  while (!isStopped()) {
    const sortKey = await claimSortKey(workerDb, LEASE_SECONDS);
    if (sortKey === undefined) break;
    if (await fill(sortKey, options)) ready += 1;
  }
  return ready;
}

/** How often long work reports its progress. */
const PROGRESS_MS = 5000;

async function fill(sortKey: AskedSortKey, options: SortKeyFillerOptions): Promise<boolean> {
  const { db, workerDb, log, pauseFor = pause, isStopped = () => false } = options;
  const { orgId, by } = sortKey;
  const started = performance.now();
  let toldAtMs = started;
  let runs = 0;
  for (let waits = 0; !isStopped();) {
    const stepped = performance.now();
    const step: FillOutcome = await fillSortKey(db, sortKey, { runsMax: RUNS_PER_STEP, leaseSeconds: LEASE_SECONDS });
    const now = performance.now();
    runs += step.runs;
    if (step.outcome === "ended") return false;
    if (step.outcome === "ready") {
      log.info("a sort key is ready", { org_id: orgId, by, runs, seconds: (now - started) / 1000 });
      return true;
    }
    if (now - toldAtMs >= PROGRESS_MS) {
      toldAtMs = now;
      log.info("a sort key is being made ready", { org_id: orgId, by, runs, outcome: step.outcome });
    }
    if (step.outcome === "filled") await pauseFor((now - stepped) / WORK_PER_PAUSE);
    else if (++waits <= WAITS_MAX) await pauseFor(WAIT_MS);
    else {
      await releaseSortKey(workerDb, sortKey, RETRY_SECONDS);
      return false;
    }
  }
  await releaseSortKey(workerDb, sortKey, 0);
  return false;
}

/** Lists look at each run that is being written until the sort key is ready, so no caller waits for long. */
const PERIOD_MS = 200;
const RETIRE_MS = 60 * 60_000;
/** A sort key that no list was sorted by for this long is deleted. */
const UNUSED_DAYS = 7;

/** Starts a filler, which does a round now and five times a second, and deletes unused sort keys every hour. `stop` ends it after the current step. */
export function startSortKeyFiller(
  options: Omit<SortKeyFillerOptions, "log" | "isStopped"> & { readonly log: Pick<Log, "info" | "warn"> },
): Pick<Rounds, "stop"> {
  const { log, workerDb } = options;
  let retiredAtMs = -Infinity;
  return startRounds({
    everyMs: PERIOD_MS,
    async round(isStopped) {
      if (performance.now() - retiredAtMs >= RETIRE_MS) {
        retiredAtMs = performance.now();
        const deleted = await deleteOldSortKeys(workerDb, UNUSED_DAYS);
        if (deleted > 0) log.info("unused sort keys are deleted", { sort_keys: deleted });
      }
      await fillSortKeys({ ...options, isStopped });
    },
    onError: (error) => log.warn("sort keys could not be made ready; the next round tries again", { error }),
  });
}
