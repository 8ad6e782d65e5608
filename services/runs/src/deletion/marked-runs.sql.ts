import { sql, type Tx } from "@tidemark/pg";

/** The state that decides whether a run can be deleted or restored. */
export type DeletableRun = {
  readonly projectId: string;
  /** The run itself was deleted. */
  readonly isDeleted: boolean;
  readonly isProjectDeleted: boolean;
  /** It can no longer be restored. */
  readonly isOver: boolean;
};

const lockSql = sql(
  "runs_lock_to_delete",
  `SELECT r.project_id AS "projectId", r.deleted_at IS NOT NULL AS "isDeleted", p.deleted_at IS NOT NULL AS "isProjectDeleted",
          coalesce(least(r.purge_after, p.purge_after) <= clock_timestamp(), false) AS "isOver"
   FROM runs.runs r
   CROSS JOIN LATERAL (
     SELECT o.deleted_at, o.purge_after FROM runs.projects o WHERE o.org_id = r.org_id AND o.id = r.project_id OFFSET 0) p
   WHERE r.org_id = $1 AND r.id = $2 FOR UPDATE OF r`,
);

/** Locks a run until the end of the transaction, which sees deleted rows; undefined when the organization does not have it. */
export function lockRunToDelete(tx: Tx, orgId: string, runId: string): Promise<DeletableRun | undefined> {
  return tx.one(lockSql, [orgId, runId]);
}

const markSql = sql(
  "runs_mark_deleted",
  `UPDATE runs.runs r SET deleted_at = n.at, purge_after = n.at + $3 * interval '1 day'
   FROM (SELECT clock_timestamp() AS at) n WHERE r.org_id = $1 AND r.id = $2`,
);

/** Marks a hidden run as deleted itself, to be removed after `graceDays`. */
export async function markRun(tx: Tx, orgId: string, runId: string, graceDays: number): Promise<void> {
  await tx.count(markSql, [orgId, runId, graceDays]);
}

const unmarkSql = sql(
  "runs_unmark_deleted",
  "UPDATE runs.runs SET deleted_at = NULL, purge_after = NULL WHERE org_id = $1 AND id = $2",
);

/** Removes the mark of a deleted run; the run stays hidden. */
export async function unmarkRun(tx: Tx, orgId: string, runId: string): Promise<void> {
  await tx.count(unmarkSql, [orgId, runId]);
}

const listSql = sql(
  "runs_list_deleted",
  `SELECT r.id FROM runs.runs r
   WHERE r.org_id = $1 AND r.deleted_at IS NOT NULL AND r.purge_after > now() AND ($2::uuid IS NULL OR r.project_id = $2)
     AND ($3::text IS NULL OR r.status = $3) AND ($4::text IS NULL OR r.display_status = $4)
   ORDER BY r.created_at DESC, r.id DESC LIMIT $5::bigint OFFSET $6::bigint`,
);

/** Which deleted runs to list. */
export type DeletedPage = {
  readonly projectId: string | undefined;
  readonly status: string | undefined;
  readonly displayStatus: string | undefined;
  readonly limit: number;
  readonly offset: bigint;
};

/** Returns the ids of runs that were deleted themselves and can be restored, the newest first. The transaction sees deleted rows. */
export async function listDeletedIds(tx: Tx, orgId: string, page: DeletedPage): Promise<string[]> {
  const { projectId, status, displayStatus, limit, offset } = page;
  const values = [orgId, projectId ?? null, status ?? null, displayStatus ?? null, limit, offset];
  return (await tx.rows<{ id: string }>(listSql, values)).map(({ id }) => id);
}
