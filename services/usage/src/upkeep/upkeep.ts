import { startRounds, type Rounds } from "@tidemark/work";
import { inBatches, type Tx, organizationRemover, type Db, type Removal } from "@tidemark/pg";
import type { Log } from "@tidemark/telemetry";
import { forgetFullBuckets } from "../leases/token-buckets.sql.ts";
import { forgetGateways } from "../requests/month-requests.sql.ts";

const INTERVAL_MS = 10 * 60 * 1000;
const BATCH_ROWS = 1000;

/** Forgets buckets that are full and gateways that ended, in small transactions. Several processes may do it simultaneously. */
export async function runUpkeep(workerDb: Tx): Promise<{ buckets: number; gateways: number }> {
  return {
    buckets: await inBatches(BATCH_ROWS, (rows) => forgetFullBuckets(workerDb, rows)),
    gateways: await inBatches(BATCH_ROWS, (rows) => forgetGateways(workerDb, rows)),
  };
}

/** Does a round of upkeep every ten minutes. */
export function startUsageUpkeep({ workerDb, log }: { readonly workerDb: Tx; readonly log: Log }): Rounds {
  return startRounds({
    everyMs: INTERVAL_MS,
    isFirstNow: false,
    round: async () => log.debug("upkeep done", await runUpkeep(workerDb)),
    onError: (error) => log.warn("upkeep failed; it is tried again in ten minutes", { error }),
  });
}

const removeRowsOfOrganization = organizationRemover("usage", ["month_requests", "token_buckets"]);

/** Removes the counts of an organization; runs and projects have none. Resolves to true: nothing is left. `db` runs as the worker. */
export async function removeUsage(db: Db, { orgId, kind }: Removal): Promise<boolean> {
  if (kind === "organization") await removeRowsOfOrganization(db, orgId);
  return true;
}
