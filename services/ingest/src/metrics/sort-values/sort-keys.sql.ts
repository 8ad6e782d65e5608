import { sql, type Db } from "@tidemark/pg";

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
