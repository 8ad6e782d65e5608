import type { Db, Tx } from "@tidemark/pg";
import type { Log } from "@tidemark/telemetry";
import { adoptRunChanges } from "./store/adopt-run-changes.ts";
import { resetForeignTransactions } from "./store/reset-foreign-transactions.ts";
import { sweepDeviceLogins } from "./store/sweep-device-logins.ts";
import { sweepInvitations } from "./store/sweep-invitations.ts";
import { sweepSessions } from "./store/sweep-sessions.ts";
import { turnGenerations } from "./store/turn-generations.ts";

const hourMs = 60 * 60 * 1000;
const batch = 500;

/** What was done in one round. */
export type UpkeepReport = {
  sessions: number;
  deviceLogins: number;
  invitations: number;
  reset: number;
  runChanges: number;
  emptied: boolean;
};

/**
 * One round of upkeep: ends what has run out, in small transactions, and turns the generations of
 * idempotency records. Safe when several processes do it at once.
 */
export async function keepUp(options: { db: Db; workerDb: Db; now: Date }): Promise<UpkeepReport> {
  const { db, workerDb, now } = options;
  const inBatches = async (sweep: (tx: Tx, now: Date, batch: number) => Promise<number>): Promise<number> => {
    for (let total = 0; ;) {
      const swept = await sweep(workerDb, now, batch);
      total += swept;
      if (swept < batch) return total;
    }
  };
  return {
    emptied: await turnGenerations(db),
    reset: await resetForeignTransactions(workerDb),
    sessions: await inBatches(sweepSessions),
    deviceLogins: await inBatches(sweepDeviceLogins),
    invitations: await inBatches(sweepInvitations),
    runChanges: await inBatches((tx, _now, rows) => adoptRunChanges(tx, rows)),
  };
}

/** Keeps up now and every hour. `stop` ends it after the round in hand. */
export function startUpkeep(options: { db: Db; workerDb: Db; now: () => Date; log: Log }): { stop(): Promise<void> } {
  const { db, workerDb, now, log } = options;
  let round = Promise.resolve();
  const run = (): void => {
    round = round
      .then(() => keepUp({ db, workerDb, now: now() }))
      .then(
        (report) => log.debug("upkeep done", report),
        (error: unknown) => log.warn("upkeep failed; it is tried again in an hour", { error }),
      );
  };
  run();
  const timer = setInterval(run, hourMs);
  timer.unref();
  return {
    stop: () => {
      clearInterval(timer);
      return round;
    },
  };
}
