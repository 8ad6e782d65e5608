import { sql, type Tx } from "@tidemark/pg";

/*
 * Rows of an archive, given to PostgreSQL as JSON lists: a restore writes any of their columns.
 */

/** A collection in the form of an archive; instants are RFC 3339 texts, documents JSON texts. */
export type RestoredCollection = {
  readonly id: string;
  readonly projectId: string;
  readonly type: string;
  readonly name: string;
  readonly description: string | null;
  readonly metadata: string;
  readonly nextIndex: number;
  readonly createdAt: string;
  readonly updatedAt: string;
};

const insertCollectionSql = sql(
  "artifacts_restore_collection",
  `INSERT INTO artifacts.collections (org_id, id, project_id, type, name, description, metadata, next_index, created_at, updated_at)
   VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) ON CONFLICT (org_id, project_id, type, name) DO NOTHING RETURNING id`,
);
const findCollectionSql = sql(
  "artifacts_find_restored_collection",
  "SELECT id FROM artifacts.collections WHERE org_id = $1 AND project_id = $2 AND type = $3 AND name = $4",
);

/** Makes a collection unless the project has one of this type and name. Returns its id, and whether it is new. */
export async function restoreCollectionRow(
  tx: Tx,
  orgId: string,
  row: RestoredCollection,
): Promise<{ readonly id: string; readonly isNew: boolean }> {
  const { id, projectId, type, name, description, metadata, nextIndex, createdAt, updatedAt } = row;
  const values = [orgId, id, projectId, type, name, description, metadata, nextIndex, createdAt, updatedAt];
  const made = await tx.one<{ id: string }>(insertCollectionSql, values);
  if (made !== undefined) return { id: made.id, isNew: true };
  const found = await tx.one<{ id: string }>(findCollectionSql, [orgId, projectId, type, name]);
  return { id: found!.id, isNew: false };
}

const insertArtifactsSql = sql(
  "artifacts_restore_artifacts",
  `INSERT INTO artifacts.artifacts AS a (org_id, id, run_id, project_id, type, name, uri, step, size_bytes, sha256, mime_type, storage_backend, metadata,
                                         created_at)
   SELECT $1, r.id, r.run_id, r.project_id, r.type, r.name, r.uri, r.step, r.size_bytes, r.sha256, r.mime_type, r.storage_backend, r.metadata, r.created_at
   FROM json_to_recordset($2::json) AS r (id uuid, run_id uuid, project_id uuid, type text, name text, uri text, step float8, size_bytes bigint,
                                          sha256 text, mime_type text, storage_backend text, metadata text, created_at timestamptz)
   ON CONFLICT (org_id, id) DO NOTHING RETURNING a.id, a.run_id AS "runId", a.type, a.size_bytes AS "sizeBytes"`,
);

/** An artifact in the form of an archive. */
export type RestoredArtifact = {
  readonly id: string;
  readonly run_id: string;
  readonly project_id: string;
  readonly type: string;
  readonly name: string;
  readonly uri: string;
  readonly step: number | undefined;
  readonly size_bytes: number | undefined;
  readonly sha256: string | undefined;
  readonly mime_type: string;
  readonly storage_backend: string;
  readonly metadata: string;
  readonly created_at: string;
};

/** A restored artifact. */
export type MadeArtifact = {
  readonly id: string;
  readonly runId: string;
  readonly type: "checkpoint" | "rollout" | "file";
  readonly sizeBytes: number | null;
};

/** Stores artifacts whose ids are free, and returns these. The caller updates their counters. */
export function insertRestoredArtifacts(
  tx: Tx,
  orgId: string,
  rows: readonly RestoredArtifact[],
): Promise<MadeArtifact[]> {
  return tx.rows(insertArtifactsSql, [orgId, JSON.stringify(rows)]);
}

const insertEntriesSql = sql(
  "artifacts_restore_entries",
  `INSERT INTO artifacts.entries AS e (org_id, version_id, id, path, kind, size_bytes, sha256, mime_type, reference_uri)
   SELECT $1, $2, r.id, r.path, r.kind, r.size_bytes, decode(r.sha256, 'hex'), r.mime_type, r.reference_uri
   FROM json_to_recordset($3::json) AS r (id uuid, path text, kind text, size_bytes bigint, sha256 text, mime_type text, reference_uri text)
   ON CONFLICT DO NOTHING RETURNING e.id`,
);

/** An entry in the form of an archive; the hash is 64 hexadecimal digits. */
export type RestoredEntry = {
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
