import { sql, type Tx } from "@tidemark/pg";

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
