import { sql, type Tx } from "@tidemark/pg";
import type { Retention } from "./retention.rules.ts";
import { addStorage } from "../storage/storage.sql.ts";
import { isAvailable } from "./versions.sql.ts";

const setRetentionSql = sql(
  "artifacts_set_retention",
  `UPDATE artifacts.versions SET retention_mode = $3, ttl_days = $4, audit_reason = $5,
     expires_at = created_at + $4::integer * interval '1 day'
   WHERE org_id = $1 AND id = $2`,
);

/** Changes how long a version is kept, counted from its creation, and notes the reason. */
export async function writeRetention(
  tx: Tx,
  orgId: string,
  versionId: string,
  { mode, ttlDays }: Retention,
  reason: string,
): Promise<void> {
  await tx.rows(setRetentionSql, [orgId, versionId, mode, ttlDays ?? null, reason]);
}

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
type Retirement = {
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

const lockAvailableSql = sql(
  "artifacts_lock_available_version",
  `SELECT (${isAvailable}) AS available FROM artifacts.versions v WHERE v.org_id = $1 AND v.id = $2 FOR SHARE`,
);

/** Keeps a version from being deleted until the transaction ends. Returns whether it is available. */
export async function lockAvailable(tx: Tx, orgId: string, versionId: string): Promise<boolean> {
  const row = await tx.one<{ available: boolean }>(lockAvailableSql, [orgId, versionId]);
  return row?.available === true;
}

const lockCollectionSql = sql(
  "artifacts_lock_collection",
  "SELECT true FROM artifacts.collections WHERE org_id = $1 AND id = $2 FOR NO KEY UPDATE",
);

/**
 * Locks a collection until the transaction ends. Every change of its versions, aliases or counters does so first: all transactions lock the
 * collection, then versions, then objects, then the storage of the organization.
 */
export async function lockCollection(tx: Tx, orgId: string, collectionId: string): Promise<void> {
  await tx.rows(lockCollectionSql, [orgId, collectionId]);
}
