import { sql, type Tx } from "@tidemark/pg";

/** The amounts that an organization keeps at this moment, in bytes as clients count them. */
export type StorageRow = {
  readonly activeBytes: number;
  readonly pendingDeleteBytes: number;
  readonly reservedBytes: number;
  readonly artifacts: number;
  readonly collections: number;
  readonly versionsActive: number;
  readonly versionsPendingDelete: number;
};

// Versions past their end count as active until the sweeper has run.
const readSql = sql(
  "artifacts_read_storage",
  `SELECT s.artifact_bytes + s.version_bytes - x.bytes AS "activeBytes", s.pending_delete_bytes + x.bytes AS "pendingDeleteBytes",
          s.reserved_bytes AS "reservedBytes", s.artifacts, s.collections, s.versions_active - x.versions AS "versionsActive",
          s.versions_pending_delete + x.versions AS "versionsPendingDelete"
   FROM artifacts.usage_v1 s
   CROSS JOIN LATERAL (
     SELECT count(*) AS versions, coalesce(sum(v.size_bytes), 0)::bigint AS bytes FROM artifacts.versions v
     WHERE v.org_id = $1 AND v.state = 'active' AND v.expires_at <= now() OFFSET 0) x
   WHERE s.org_id = $1`,
);

/** Returns the amounts that an organization keeps; undefined when it never kept anything. */
export function readStorage(tx: Tx, orgId: string): Promise<StorageRow | undefined> {
  return tx.one(readSql, [orgId]);
}
