import { startRounds, type Rounds } from "@tidemark/work";
import { inBatches, type Db, type Tx } from "@tidemark/pg";
import type { Log } from "@tidemark/telemetry";
import { sweepDeviceLogins } from "../device-login/device-logins.sql.ts";
import { removeEndedInvitations, sweepInvitations } from "../invitations/invitations.sql.ts";
import { sweepSessions } from "../sessions/sessions.sql.ts";
import { adoptRunChanges, foreignTransactionResets, turnGenerations } from "./upkeep.sql.ts";

const INTERVAL_MS = 60 * 60 * 1000;
const BATCH_ROWS = 500;

/** How many rows each step of a round changed; `emptied`: whether the oldest idempotency records were removed. */
export type UpkeepReport = {
  sessions: number;
  deviceLogins: number;
  invitations: number;
  endedInvitations: number;
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
  const sweep = (step: (tx: Tx, now: Date, rowsMax: number) => Promise<number>): Promise<number> =>
    inBatches(BATCH_ROWS, (rows) => step(workerDb, now, rows));
  const resetForeignTransactions = async (): Promise<number> => {
    let total = 0;
    for (const reset of foreignTransactionResets) total += await sweep((tx, _now, rows) => reset(tx, rows));
    return total;
  };
  return {
    emptied: await turnGenerations(db),
    reset: await resetForeignTransactions(),
    sessions: await sweep(sweepSessions),
    deviceLogins: await sweep(sweepDeviceLogins),
    invitations: await sweep(sweepInvitations),
    endedInvitations: await sweep(removeEndedInvitations),
    runChanges: await sweep((tx, _now, rows) => adoptRunChanges(tx, rows)),
  };
}

/** Does a round of upkeep now and every hour. */
export function startControlUpkeep(options: { db: Db; workerDb: Db; now: () => Date; log: Log }): Rounds {
  const { db, workerDb, now, log } = options;
  return startRounds({
    everyMs: INTERVAL_MS,
    round: async () => log.debug("upkeep done", await runUpkeep({ db, workerDb, now: now() })),
    onError: (error) => log.warn("upkeep failed; it is tried again in an hour", { error }),
  });
}
