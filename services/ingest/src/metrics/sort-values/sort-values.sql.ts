import { sql, type Db, type Tx } from "@tidemark/pg";

/** A run whose sort values may be older than its key aggregates. */
export type UnindexedRun = { readonly orgId: string; readonly runId: string; readonly touchedMinute: number };

const listRuns = sql(
  "ingest_list_unindexed_runs",
  `SELECT org_id AS "orgId", run_id AS "runId", touched_minute AS "touchedMinute"
   FROM ingest.unindexed_runs
   WHERE touched_minute <= floor(extract(epoch FROM now()) / 60)::integer - $1::integer
   ORDER BY touched_minute LIMIT $2::bigint`,
);

/**
 * Returns unindexed runs of all organizations that were not written for `quietMinutes`, by the clock that writes use; runs that have been quiet
 * longest come first.
 */
export function listUnindexedRuns(workerDb: Db, quietMinutes: number, runsMax: number): Promise<UnindexedRun[]> {
  return workerDb.rows(listRuns, [quietMinutes, runsMax]);
}

const indexKeys = sql("ingest_index_sort_values", 'SELECT ingest.index_sort_values($1, $2, $3, $4) AS "lastKey"');

/** Copies the values to sort by of the next keys of a run after a key. Returns the last of these keys; null when there are none. */
export async function indexSortValues(
  tx: Tx,
  { orgId, runId }: UnindexedRun,
  afterKey: string,
  keysMax: number,
): Promise<string | null> {
  const row = await tx.one<{ lastKey: string | null }>(indexKeys, [orgId, runId, afterKey, keysMax]);
  return row?.lastKey ?? null;
}

const finishRun = sql("ingest_finish_indexing", "SELECT ingest.finish_indexing($1, $2, $3) AS indexed");

/** Makes a run count as indexed once the values of all its keys are copied. Returns false when it was written meanwhile. */
export async function finishIndexing(tx: Tx, { orgId, runId, touchedMinute }: UnindexedRun): Promise<boolean> {
  const row = await tx.one<{ indexed: boolean }>(finishRun, [orgId, runId, touchedMinute]);
  return row?.indexed === true;
}
