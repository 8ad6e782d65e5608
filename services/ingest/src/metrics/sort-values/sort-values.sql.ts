import { sql, type Db, type Tx } from "@tidemark/pg";

/** A sort key that is not ready yet. */
export type AskedSortKey = { readonly orgId: string; readonly key: string; readonly by: "best" | "latest" };

// The snapshot shows the sort key, and the number of the transaction is taken after it. So every write that could not see the sort key has a lower
// number. A number not below the snapshot's end is from another server, with a restored dump.
const claimKey = sql(
  "ingest_claim_sort_key",
  `WITH due AS MATERIALIZED (
     SELECT org_id, key, by FROM ingest.sort_keys WHERE NOT ready AND claimed_until <= now()
     ORDER BY asked_at LIMIT 1 FOR UPDATE SKIP LOCKED)
   UPDATE ingest.sort_keys s SET
     claimed_until = now() + make_interval(secs => $1),
     boundary = CASE WHEN s.boundary < pg_snapshot_xmax(pg_current_snapshot()) THEN s.boundary ELSE pg_current_xact_id() END
   FROM due
   WHERE s.org_id = due.org_id AND s.key = due.key AND s.by = due.by
   RETURNING s.org_id AS "orgId", s.key, s.by`,
);

/** Claims the sort key that has waited longest, of all organizations; undefined when none is due. `workerDb` runs as the worker. */
export function claimSortKey(workerDb: Db, leaseSeconds: number): Promise<AskedSortKey | undefined> {
  return workerDb.one(claimKey, [leaseSeconds]);
}

const releaseKey = sql(
  "ingest_release_sort_key",
  `UPDATE ingest.sort_keys SET claimed_until = now() + make_interval(secs => $4)
   WHERE org_id = $1 AND key = $2 AND by = $3 AND NOT ready`,
);

/** Lets other processes claim a sort key after some seconds. */
export async function releaseSortKey(
  workerDb: Db,
  { orgId, key, by }: AskedSortKey,
  afterSeconds: number,
): Promise<void> {
  await workerDb.count(releaseKey, [orgId, key, by, afterSeconds]);
}

const fillKey = sql("ingest_fill_sort_key", "SELECT outcome, runs FROM ingest.fill_sort_key($1, $2, $3, $4, $5)");

/**
 * The outcome of a step: `filled` gave some runs their values; `ready` found no more runs; `waiting`: a write that does not know of the sort key may be
 * on its way; `ended`: the sort key is ready or gone.
 */
export type FillOutcome = { readonly outcome: "filled" | "ready" | "waiting" | "ended"; readonly runs: number };

/** Does the next step towards a sort key that is ready, of at most `runsMax` runs, and prolongs the claim. */
export async function fillSortKey(
  db: Db,
  { orgId, key, by }: AskedSortKey,
  { runsMax, leaseSeconds }: { readonly runsMax: number; readonly leaseSeconds: number },
): Promise<FillOutcome> {
  return (await db.one<FillOutcome>(fillKey, [orgId, key, by, runsMax, leaseSeconds]))!;
}

const listOld = sql(
  "ingest_list_old_sort_keys",
  `SELECT DISTINCT org_id AS "orgId" FROM ingest.sort_keys WHERE asked_at < now() - make_interval(days => $1::integer)`,
);
const lockVersion = sql(
  "ingest_change_sort_key_version",
  "UPDATE ingest.sort_key_versions SET version = version + 1 WHERE org_id = $1",
);
const deleteOld = sql(
  "ingest_delete_old_sort_keys",
  "DELETE FROM ingest.sort_keys WHERE org_id = $1 AND asked_at < now() - make_interval(days => $2::integer)",
);

/** Deletes the sort keys that no list was sorted by for some days, of all organizations, and returns how many. */
export async function deleteOldSortKeys(workerDb: Db, days: number): Promise<number> {
  let deleted = 0;
  for (const { orgId } of await workerDb.rows<{ orgId: string }>(listOld, [days])) {
    deleted += await workerDb.transaction(async (tx) => {
      // The lock of every change to the sort keys of an organization; then writers find out.
      await tx.count(lockVersion, [orgId]);
      return tx.count(deleteOld, [orgId, days]);
    });
  }
  return deleted;
}

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

/** A sort key of an organization. */
type SortKeyRow = { readonly key: string; readonly by: "best" | "latest" };

const loadKeys = sql(
  "ingest_load_sort_keys",
  `SELECT v.version, s.key, s.by FROM ingest.sort_key_versions v LEFT JOIN ingest.sort_keys s ON s.org_id = v.org_id
   WHERE v.org_id = $1`,
);

/** Returns the sort keys of an organization, ready or not, and their version, which a writer has to show. */
export async function loadSortKeys(
  tx: Tx,
  orgId: string,
): Promise<{ readonly version: number; readonly keys: readonly SortKeyRow[] }> {
  const rows = await tx.rows<{ version: number; key: string | null; by: SortKeyRow["by"] }>(loadKeys, [orgId]);
  return {
    version: rows[0]?.version ?? 0,
    keys: rows.flatMap(({ key, by }) => (key === null ? [] : [{ key, by }])),
  };
}
