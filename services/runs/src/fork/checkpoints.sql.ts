import { sql, type Tx } from "@tidemark/pg";

/** An artifact of a run as clients see it; the instant is an RFC 3339 text, `metadata` JSON. */
export type ArtifactRow = {
  readonly id: string;
  readonly runId: string;
  readonly type: string;
  readonly name: string;
  readonly uri: string;
  readonly step: number | null;
  readonly sizeBytes: number | null;
  readonly sha256: string | null;
  readonly mimeType: string;
  readonly storageBackend: string;
  readonly metadata: string;
  readonly createdAt: string;
};

const findArtifactSql = sql(
  "runs_find_artifact",
  `SELECT id, run_id AS "runId", type, name, uri, step, size_bytes AS "sizeBytes", sha256, mime_type AS "mimeType",
     storage_backend AS "storageBackend", metadata, created_at AS "createdAt"
   FROM artifacts.artifacts_v1 WHERE org_id = $1 AND id = $2`,
);

/** Returns an artifact of the organization. */
export function findArtifact(tx: Tx, orgId: string, artifactId: string): Promise<ArtifactRow | undefined> {
  return tx.one(findArtifactSql, [orgId, artifactId]);
}
