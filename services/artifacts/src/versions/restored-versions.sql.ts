import { sql, type Tx } from "@tidemark/pg";

const findSql = sql(
  "artifacts_find_restored_version",
  `SELECT v.project_id AS "projectId", v.purged_at IS NOT NULL AS "isPurged" FROM artifacts.versions v WHERE v.org_id = $1 AND v.id = $2`,
);

/** Returns the facts of a version that its entries and edges need. */
export function findRestoredVersion(
  tx: Tx,
  orgId: string,
  id: string,
): Promise<{ readonly projectId: string; readonly isPurged: boolean } | undefined> {
  return tx.one(findSql, [orgId, id]);
}

/** A version in the form of an archive; the digest is 64 hexadecimal digits, instants are RFC 3339 texts. */
type RestoredVersion = {
  readonly id: string;
  readonly collectionId: string;
  readonly versionIndex: number;
  readonly digest: string;
  readonly sourceRunId: string;
  readonly sourceStep: number | null;
  readonly fileCount: number;
  readonly sizeBytes: number;
  readonly state: string;
  readonly ttlDays: number | null;
  readonly retentionMode: string;
  readonly expiresAt: string | null;
  readonly deleteRequestedAt: string | null;
  readonly deletedAt: string | null;
  readonly purgeAfter: string | null;
  readonly purgedAt: string | null;
  readonly auditReason: string | null;
  readonly createdAt: string;
};

const insertSql = sql(
  "artifacts_restore_version",
  `WITH place AS (
     SELECT CASE WHEN t.is_taken THEN greatest(c.next_index, $4::integer + 1) ELSE $4::integer END AS index, c.project_id
     FROM artifacts.collections c
     CROSS JOIN LATERAL (SELECT EXISTS (SELECT FROM artifacts.versions v
                                        WHERE v.org_id = $1 AND v.collection_id = $2 AND v.version_index = $4::integer OFFSET 0) AS is_taken) t
     WHERE c.org_id = $1 AND c.id = $2
   ), made AS (
     INSERT INTO artifacts.versions (org_id, id, collection_id, project_id, version_index, digest, source_run_id, source_step, file_count, size_bytes,
                                     state, ttl_days, retention_mode, expires_at, delete_requested_at, deleted_at, purge_after, purged_at,
                                     audit_reason, created_at)
     SELECT $1, $3, $2, p.project_id, p.index, decode($5, 'hex'), $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19
     FROM place p
     ON CONFLICT (org_id, id) DO NOTHING RETURNING version_index, state, purged_at, size_bytes
   ), counted AS (
     UPDATE artifacts.collections c SET
       next_index = greatest(c.next_index, m.version_index + 1),
       versions_active = c.versions_active + (m.state = 'active')::integer,
       bytes_active = c.bytes_active + CASE WHEN m.state = 'active' THEN m.size_bytes ELSE 0 END,
       bytes_pending_delete = c.bytes_pending_delete + CASE WHEN m.state <> 'active' AND m.purged_at IS NULL THEN m.size_bytes ELSE 0 END
     FROM made m WHERE c.org_id = $1 AND c.id = $2
   )
   SELECT version_index AS index FROM made`,
);

/**
 * Stores a version unless it exists, and counts it in its collection, which this transaction has locked. Returns its index; undefined when it was
 * there. The caller updates the counters of the organization.
 */
export async function insertRestoredVersion(tx: Tx, orgId: string, row: RestoredVersion): Promise<number | undefined> {
  const made = await tx.one<{ index: number }>(insertSql, [
    orgId,
    row.collectionId,
    row.id,
    row.versionIndex,
    row.digest,
    row.sourceRunId,
    row.sourceStep,
    row.fileCount,
    row.sizeBytes,
    row.state,
    row.ttlDays,
    row.retentionMode,
    row.expiresAt,
    row.deleteRequestedAt,
    row.deletedAt,
    row.purgeAfter,
    row.purgedAt,
    row.auditReason,
    row.createdAt,
  ]);
  return made?.index;
}

const addAliasSql = sql(
  "artifacts_restore_alias",
  `INSERT INTO artifacts.aliases (org_id, collection_id, alias, version_id) VALUES ($1, $2, $3, $4)
   ON CONFLICT (org_id, collection_id, alias) DO NOTHING`,
);

/** Gives a version an alias that no other version of its collection has. False: another version has it. */
export async function addRestoredAlias(
  tx: Tx,
  orgId: string,
  { id, collectionId }: Pick<RestoredVersion, "id" | "collectionId">,
  alias: string,
): Promise<boolean> {
  return (await tx.count(addAliasSql, [orgId, collectionId, alias, id])) === 1;
}

const insertEntriesSql = sql(
  "artifacts_restore_entries",
  `INSERT INTO artifacts.entries AS e (org_id, version_id, id, path, kind, size_bytes, sha256, mime_type, reference_uri)
   SELECT $1, $2, r.id, r.path, r.kind, r.size_bytes, decode(r.sha256, 'hex'), r.mime_type, r.reference_uri
   FROM json_to_recordset($3::json) AS r (id uuid, path text, kind text, size_bytes bigint, sha256 text, mime_type text, reference_uri text)
   ON CONFLICT DO NOTHING RETURNING e.id`,
);

/** An entry in the form of an archive; the hash is 64 hexadecimal digits. */
type RestoredEntry = {
  readonly id: string;
  readonly path: string;
  readonly kind: string;
  readonly size_bytes: number | undefined;
  readonly sha256: string | undefined;
  readonly mime_type: string;
  readonly reference_uri: string | undefined;
};

/** Stores entries that the version does not have, and returns their ids. */
export async function insertRestoredEntries(
  tx: Tx,
  orgId: string,
  versionId: string,
  rows: readonly RestoredEntry[],
): Promise<string[]> {
  const made = await tx.rows<{ id: string }>(insertEntriesSql, [orgId, versionId, JSON.stringify(rows)]);
  return made.map(({ id }) => id);
}

const insertEdgesSql = sql(
  "artifacts_restore_edges",
  `INSERT INTO artifacts.edges (org_id, id, run_id, version_id, direction, source, project_id, created_at)
   SELECT $1, r.id, r.run_id, $2, r.direction, r.source, r.project_id, r.created_at
   FROM json_to_recordset($3::json) AS r (id uuid, run_id uuid, direction text, source text, project_id uuid, created_at timestamptz)
   ON CONFLICT DO NOTHING`,
);

/** An edge (a run made or used a version) in the form of an archive. */
export type RestoredEdge = {
  readonly id: string;
  readonly run_id: string;
  readonly direction: string;
  readonly source: string;
  readonly project_id: string;
  readonly created_at: string;
};

/** Stores edges that the version does not have. */
export async function insertRestoredEdges(
  tx: Tx,
  orgId: string,
  versionId: string,
  rows: readonly RestoredEdge[],
): Promise<void> {
  await tx.rows(insertEdgesSql, [orgId, versionId, JSON.stringify(rows)]);
}
