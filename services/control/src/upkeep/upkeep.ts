import type { Db, Tx } from "@tidemark/pg";
import type { Log } from "@tidemark/telemetry";
import { sweepDeviceLogins } from "../device-login/device-logins.sql.ts";
import { sweepInvitations } from "../invitations/invitations.sql.ts";
import { sweepSessions } from "../sessions/sessions.sql.ts";
import { adoptRunChanges, foreignTransactionResets, turnGenerations } from "./upkeep.sql.ts";

const INTERVAL_MS = 60 * 60 * 1000;
const BATCH_ROWS = 500;

/** How many rows each step of a round changed; `emptied`: whether the oldest idempotency records went. */
export type UpkeepReport = {
  sessions: number;
  deviceLogins: number;
  invitations: number;
  reset: number;
  runChanges: number;
  emptied: boolean;
};

/**
 * Does one round of upkeep: deletes or marks what has expired, in small transactions, and drops the oldest generation of
 * idempotency records. Several processes may do it simultaneously.
 */
export async function runUpkeep(options: { db: Db; workerDb: Db; now: Date }): Promise<UpkeepReport> {
  const { db, workerDb, now } = options;
  const inBatches = async (sweep: (tx: Tx, now: Date, batch: number) => Promise<number>): Promise<number> => {
    for (let total = 0; ;) {
      const swept = await sweep(workerDb, now, BATCH_ROWS);
      total += swept;
      if (swept < BATCH_ROWS) return total;
    }
  };
  const resetForeignTransactions = async (): Promise<number> => {
    let total = 0;
    for (const reset of foreignTransactionResets) total += await inBatches((tx, _now, rows) => reset(tx, rows));
    return total;
  };
  return {
    emptied: await turnGenerations(db),
    reset: await resetForeignTransactions(),
    sessions: await inBatches(sweepSessions),
    deviceLogins: await inBatches(sweepDeviceLogins),
    invitations: await inBatches(sweepInvitations),
    runChanges: await inBatches((tx, _now, rows) => adoptRunChanges(tx, rows)),
  };
}

/** Does a round of upkeep now and every hour. `stop` waits for the current round. */
export function startUpkeep(options: { db: Db; workerDb: Db; now: () => Date; log: Log }): { stop(): Promise<void> } {
  const { db, workerDb, now, log } = options;
  let round = Promise.resolve();
  const run = (): void => {
    round = round
      .then(() => runUpkeep({ db, workerDb, now: now() }))
      .then(
        (report) => log.debug("upkeep done", report),
        (error: unknown) => log.warn("upkeep failed; it is tried again in an hour", { error }),
      );
  };
  run();
  const timer = setInterval(run, INTERVAL_MS);
  timer.unref();
  return {
    stop: () => {
      clearInterval(timer);
      return round;
    },
  };
}
