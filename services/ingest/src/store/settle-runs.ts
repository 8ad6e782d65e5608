import { sql, type Db, type Tx } from "@tidemark/pg";

/** A run whose heads may be newer than their copies. */
export type UnsettledRun = { readonly orgId: string; readonly runId: string; readonly touchedMinute: number };

const list = sql(
  "ingest_list_unsettled",
  `SELECT org_id AS "orgId", run_id AS "runId", touched_minute AS "touchedMinute"
   FROM ingest.unsettled_runs
   WHERE touched_minute <= floor(extract(epoch FROM now()) / 60)::integer - $1::integer
   ORDER BY touched_minute LIMIT $2::bigint`,
);

/**
 * Runs of all organizations that were not written for some minutes by the clock that writes go by,
 * the quietest first.
 */
export function listUnsettledRuns(workerDb: Db, quietMinutes: number, runsMax: number): Promise<UnsettledRun[]> {
  return workerDb.rows(list, [quietMinutes, runsMax]);
}

const heads = sql("ingest_settle_heads", 'SELECT ingest.settle_heads($1, $2, $3, $4) AS "lastKey"');

/** Copies the next heads of a run after a key; the last of them, or null when there are none. */
export async function settleHeads(
  tx: Tx,
  { orgId, runId }: UnsettledRun,
  afterKey: string,
  keysMax: number,
): Promise<string | null> {
  const row = await tx.one<{ lastKey: string | null }>(heads, [orgId, runId, afterKey, keysMax]);
  return row?.lastKey ?? null;
}

const run = sql("ingest_settle_run", "SELECT ingest.settle_run($1, $2, $3) AS settled");

/** Ends the settling of a run whose heads are copied; false when it was written meanwhile. */
export async function settleRun(tx: Tx, { orgId, runId, touchedMinute }: UnsettledRun): Promise<boolean> {
  const row = await tx.one<{ settled: boolean }>(run, [orgId, runId, touchedMinute]);
  return row?.settled === true;
}
