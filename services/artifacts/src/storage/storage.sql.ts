import { sql, type Tx } from "@tidemark/pg";

/** Changes of the amounts that an organization keeps; omitted amounts do not change. */
type StorageChange = {
  readonly artifactBytes?: number;
  readonly versionBytes?: number;
  /** Of deleted things, until their bytes are gone. */
  readonly pendingDeleteBytes?: number;
  /** Of uploads that have not ended. */
  readonly reservedBytes?: number;
  readonly artifacts?: number;
  readonly collections?: number;
  readonly versionsActive?: number;
  readonly versionsPendingDelete?: number;
  /** Of plain artifacts without a known size, which are among the artifacts. */
  readonly unknownSizes?: number;
};

const add = sql("artifacts_add_storage", `SELECT artifacts.add_storage($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`);

/**
 * Adds to the amounts that the organization keeps. Call it last in the transaction: until its end, other writers of the organization's slot wait.
 * A transaction writes one slot, however often it calls this.
 */
export async function addStorage(tx: Tx, orgId: string, change: StorageChange): Promise<void> {
  await tx.rows(add, [
    orgId,
    change.artifactBytes ?? 0,
    change.versionBytes ?? 0,
    change.pendingDeleteBytes ?? 0,
    change.reservedBytes ?? 0,
    change.artifacts ?? 0,
    change.collections ?? 0,
    change.versionsActive ?? 0,
    change.versionsPendingDelete ?? 0,
    change.unknownSizes ?? 0,
  ]);
}

/** The amounts that an organization keeps at this moment, in bytes as clients count them. */
type StorageRow = {
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
