import type { Tx } from "@tidemark/pg";
import type { Log } from "@tidemark/telemetry";
import { forgetFullBuckets } from "../leases/token-buckets.sql.ts";
import { forgetGateways } from "../requests/month-requests.sql.ts";

const INTERVAL_MS = 10 * 60 * 1000;
const BATCH_ROWS = 1000;

/** Forgets buckets that are full and gateways that ended, in small transactions. Several processes may do it simultaneously. */
export async function runUpkeep(workerDb: Tx): Promise<{ buckets: number; gateways: number }> {
  const inBatches = async (forget: (tx: Tx, rowsMax: number) => Promise<number>): Promise<number> => {
    for (let total = 0; ;) {
      const forgotten = await forget(workerDb, BATCH_ROWS);
      total += forgotten;
      if (forgotten < BATCH_ROWS) return total;
    }
  };
  return { buckets: await inBatches(forgetFullBuckets), gateways: await inBatches(forgetGateways) };
}

/** Does a round of upkeep every ten minutes. `stop` waits for the current round. */
export function startUpkeep({ workerDb, log }: { readonly workerDb: Tx; readonly log: Log }): {
  stop(): Promise<void>;
} {
  let round = Promise.resolve();
  const timer = setInterval(() => {
    round = round
      .then(() => runUpkeep(workerDb))
      .then(
        (report) => log.debug("upkeep done", report),
        (error: unknown) => log.warn("upkeep failed; it is tried again in ten minutes", { error }),
      );
  }, INTERVAL_MS);
  timer.unref();
  return {
    stop: () => {
      clearInterval(timer);
      return round;
    },
  };
}
