import { sql, type Tx } from "@tidemark/pg";

// Rows of an archive come to PostgreSQL as JSON lists, because a restore writes any of their columns.
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
