import { float8Array, sql, textArray, uuidArray, type Tx } from "@tidemark/pg";
import { ofVisibleRun } from "../runs/run-refs.sql.ts";
import type { ArtifactType } from "./artifact-input.rules.ts";

/** An artifact as the statements return it: the instant is an RFC 3339 text, metadata is a JSON text. */
export type ArtifactRow = {
  readonly id: string;
  readonly orgId: string;
  readonly runId: string;
  readonly projectId: string;
  readonly type: ArtifactType;
  readonly name: string;
  readonly uri: string;
  readonly step: number | null;
  readonly sizeBytes: number | null;
  readonly sha256: string | null;
  readonly mimeType: string;
  readonly storageBackend: "external" | "local" | "r2";
  /** Null: the bytes are elsewhere. */
  readonly objectId: string | null;
  readonly metadata: string;
  readonly createdAt: string;
};

/** Select list of an `ArtifactRow`, over `artifacts.artifacts a`. */
export const artifactColumns = `a.id, a.org_id AS "orgId", a.run_id AS "runId", a.project_id AS "projectId", a.type, a.name, a.uri, a.step,
  a.size_bytes AS "sizeBytes", a.sha256, a.mime_type AS "mimeType", a.storage_backend AS "storageBackend", a.object_id AS "objectId", a.metadata,
  a.created_at AS "createdAt"`;

/** The project of a run now, or what was known when the request came: its bytes may have taken long, and the run may have moved. */
const projectNow = (run: string, known: string): string =>
  `coalesce((SELECT f.project_id FROM runs.run_refs_v1 f WHERE f.org_id = $1 AND f.id = ${run}), ${known})`;

const insertSql = sql(
  "artifacts_insert_artifact",
  `INSERT INTO artifacts.artifacts AS a (org_id, id, run_id, project_id, type, name, uri, step, size_bytes, sha256, mime_type,
                                         storage_backend, object_id, metadata)
   VALUES ($1, $2, $3, ${projectNow("$3", "$4")}, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)
   RETURNING ${artifactColumns}`,
);

/** Stores and returns an artifact. `countArtifact` updates the counters. */
export async function insertArtifact(
  tx: Tx,
  orgId: string,
  artifact: Omit<ArtifactRow, "orgId" | "createdAt">,
): Promise<ArtifactRow> {
  const row = await tx.one<ArtifactRow>(insertSql, [
    orgId,
    artifact.id,
    artifact.runId,
    artifact.projectId,
    artifact.type,
    artifact.name,
    artifact.uri,
    artifact.step,
    artifact.sizeBytes,
    artifact.sha256,
    artifact.mimeType,
    artifact.storageBackend,
    artifact.objectId,
    artifact.metadata,
  ]);
  return row!;
}

const insertExternalSql = sql(
  "artifacts_insert_external_artifacts",
  `INSERT INTO artifacts.artifacts (org_id, id, run_id, project_id, type, name, uri, step, size_bytes, mime_type, storage_backend, metadata)
   SELECT $1, a.id, $2, ${projectNow("$2", "$3")}, a.type, a.name, a.uri, nullif(a.step, 'NaN'), nullif(a.size_bytes, 'NaN')::bigint, a.mime_type, 'external', a.metadata
   FROM unnest($4::uuid[], $5::text[], $6::text[], $7::text[], $8::float8[], $9::float8[], $10::text[], $11::text[])
        AS a (id, type, name, uri, step, size_bytes, mime_type, metadata)`,
);

/** Stores artifacts of a run whose bytes are elsewhere. `countArtifacts` updates the counters. */
export async function insertExternalArtifacts(
  tx: Tx,
  orgId: string,
  { runId, projectId }: Pick<ArtifactRow, "runId" | "projectId">,
  artifacts: readonly Pick<
    ArtifactRow,
    "id" | "type" | "name" | "uri" | "step" | "sizeBytes" | "mimeType" | "metadata"
  >[],
): Promise<void> {
  await tx.rows(insertExternalSql, [
    orgId,
    runId,
    projectId,
    uuidArray(artifacts.map(({ id }) => id)),
    textArray(artifacts.map(({ type }) => type)),
    textArray(artifacts.map(({ name }) => name)),
    textArray(artifacts.map(({ uri }) => uri)),
    float8Array(artifacts.map(({ step }) => step ?? Number.NaN)),
    float8Array(artifacts.map(({ sizeBytes }) => sizeBytes ?? Number.NaN)),
    textArray(artifacts.map(({ mimeType }) => mimeType)),
    textArray(artifacts.map(({ metadata }) => metadata)),
  ]);
}

const findSql = sql(
  "artifacts_find_artifact",
  `SELECT ${artifactColumns} FROM artifacts.artifacts a ${ofVisibleRun("a.run_id")} WHERE a.org_id = $1 AND a.id = $2`,
);

/** Returns the artifact with this id, if it is in the organization. */
export function findArtifact(tx: Tx, orgId: string, artifactId: string): Promise<ArtifactRow | undefined> {
  return tx.one(findSql, [orgId, artifactId]);
}

const deleteSql = sql(
  "artifacts_delete_artifact",
  `DELETE FROM artifacts.artifacts a WHERE a.org_id = $1 AND a.id = $2 AND ($3::uuid IS NULL OR a.project_id = $3)
     AND EXISTS (SELECT FROM runs.run_refs_v1 f WHERE f.org_id = $1 AND f.id = a.run_id OFFSET 0)
   RETURNING ${artifactColumns}`,
);

/** Deletes the artifact with this id, of any project or of one, and returns its last state. */
export function takeArtifact(
  tx: Tx,
  orgId: string,
  artifactId: string,
  projectId: string | undefined,
): Promise<ArtifactRow | undefined> {
  return tx.one(deleteSql, [orgId, artifactId, projectId ?? null]);
}

const weighFromSql = sql(
  "artifacts_weigh_artifacts_from",
  `SELECT a.id, a.created_at AS "createdAt",
          octet_length(a.metadata) + octet_length(to_json(ARRAY[a.name, a.uri, a.mime_type, a.sha256])::text) AS bytes
   FROM artifacts.artifacts a WHERE a.org_id = $1 AND a.run_id = $2 AND (a.created_at, a.id) < ($3, $4)
   ORDER BY a.created_at DESC, a.id DESC LIMIT $5::bigint`,
);

/** The place of an artifact among the artifacts of its run, newest first. */
export type ArtifactPlace = { readonly createdAt: string; readonly id: string };

/** Returns the next artifacts of a run after a place, with the bytes, as JSON, of the fields whose size clients choose. */
export function weighArtifactsFrom(
  tx: Tx,
  orgId: string,
  runId: string,
  after: ArtifactPlace,
  limit: number,
): Promise<(ArtifactPlace & { readonly bytes: number })[]> {
  return tx.rows(weighFromSql, [orgId, runId, after.createdAt, after.id, limit]);
}

const readSql = sql(
  "artifacts_read_artifacts",
  `SELECT ${artifactColumns} FROM unnest($2::uuid[]) WITH ORDINALITY AS wanted (id, ordinal)
   CROSS JOIN LATERAL (SELECT * FROM artifacts.artifacts o WHERE o.org_id = $1 AND o.id = wanted.id OFFSET 0) a
   ORDER BY wanted.ordinal`,
);

/** Returns artifacts in the order of their ids. */
export function readArtifacts(tx: Tx, orgId: string, ids: readonly string[]): Promise<ArtifactRow[]> {
  return tx.rows(readSql, [orgId, ids]);
}

const countsOfSql = sql(
  "artifacts_counts_of_runs",
  `SELECT coalesce(c.checkpoints + c.rollouts + c.files, 0) AS artifacts
   FROM unnest($2::uuid[]) WITH ORDINALITY AS r (id, ordinal)
   LEFT JOIN LATERAL (SELECT * FROM artifacts.run_counts o WHERE o.org_id = $1 AND o.run_id = r.id OFFSET 0) c ON true
   ORDER BY r.ordinal`,
);

/** Returns how many artifacts each of the runs has. */
export async function countArtifactsOf(tx: Tx, orgId: string, runIds: readonly string[]): Promise<number[]> {
  const rows = await tx.rows<{ artifacts: number }>(countsOfSql, [orgId, runIds]);
  return rows.map(({ artifacts }) => artifacts);
}

const countSql = sql(
  "artifacts_count_artifact",
  `INSERT INTO artifacts.run_counts AS c (org_id, run_id, checkpoints, rollouts, files) VALUES ($1, $2, $3, $4, $5)
   ON CONFLICT (org_id, run_id) DO UPDATE SET
     checkpoints = c.checkpoints + excluded.checkpoints, rollouts = c.rollouts + excluded.rollouts, files = c.files + excluded.files`,
);

const uncountSql = sql(
  "artifacts_uncount_artifact",
  `UPDATE artifacts.run_counts c SET checkpoints = c.checkpoints - $3, rollouts = c.rollouts - $4, files = c.files - $5
   WHERE c.org_id = $1 AND c.run_id = $2`,
);

/** Counts an artifact that a run has gained or lost. */
export async function countArtifact(
  tx: Tx,
  orgId: string,
  { runId, type }: Pick<ArtifactRow, "runId" | "type">,
  change: 1 | -1,
): Promise<void> {
  const counts = (["checkpoint", "rollout", "file"] as const).map((counted) => (counted === type ? 1 : 0));
  await tx.rows(change === 1 ? countSql : uncountSql, [orgId, runId, ...counts]);
}

/** Counts artifacts of these types that a run has gained or lost. */
export async function countArtifacts(
  tx: Tx,
  orgId: string,
  runId: string,
  types: readonly ArtifactType[],
  change: 1 | -1 = 1,
): Promise<void> {
  const counts = (["checkpoint", "rollout", "file"] as const).map(
    (counted) => types.filter((type) => type === counted).length,
  );
  await tx.rows(change === 1 ? countSql : uncountSql, [orgId, runId, ...counts]);
}
