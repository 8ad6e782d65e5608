import { sql, type Tx } from "@tidemark/pg";
import { addStorage } from "../storage/storage.sql.ts";

// A version that was not deleted is active. With a condition on its state, indexes of active versions would look as good as the key.
const retireSql = sql(
  "artifacts_retire_version",
  `WITH retired AS (
     UPDATE artifacts.versions v SET
       state = 'soft_deleted', deleted_at = now(), purge_after = now() + $4 * interval '1 day',
       delete_requested_at = CASE WHEN $5::text IS NULL THEN v.delete_requested_at ELSE now() END,
       audit_reason = coalesce($5, v.audit_reason)
     WHERE v.org_id = $1 AND v.id = $3 AND v.deleted_at IS NULL
     RETURNING v.size_bytes
   ), counted AS (
     UPDATE artifacts.collections c SET
       versions_active = c.versions_active - 1,
       bytes_active = c.bytes_active - retired.size_bytes,
       bytes_pending_delete = c.bytes_pending_delete + retired.size_bytes,
       updated_at = clock_timestamp()
     FROM retired WHERE c.org_id = $1 AND c.id = $2
   )
   SELECT size_bytes AS "sizeBytes" FROM retired`,
);

/** How a version ends. */
export type Retirement = {
  readonly collectionId: string;
  readonly versionId: string;
  /** Days until its bytes are released. */
  readonly graceDays: number;
  /** The reason for its deletion; undefined: it has expired. */
  readonly reason: string | undefined;
};

/**
 * Makes an active version permanently unavailable, with the counters of its collection and of the organization; its bytes stay for the grace period.
 * Returns whether it was active. The collection is locked (`lockCollection`).
 */
export async function retireVersion(tx: Tx, orgId: string, retirement: Retirement): Promise<boolean> {
  const { collectionId, versionId, graceDays, reason } = retirement;
  const retired = await tx.one<{ sizeBytes: number }>(retireSql, [
    orgId,
    collectionId,
    versionId,
    graceDays,
    reason ?? null,
  ]);
  if (retired === undefined) return false;
  await addStorage(tx, orgId, {
    versionBytes: -retired.sizeBytes,
    pendingDeleteBytes: retired.sizeBytes,
    versionsActive: -1,
    versionsPendingDelete: 1,
  });
  return true;
}
