import { sql, type Tx } from "@tidemark/pg";
import { MODEL_STAGES } from "@tidemark/limits";
import type { TextMap } from "../query/text-map.rules.ts";

/** A version of a registered model as the statements return it. */
export type RegisteredVersionRow = {
  readonly id: string;
  readonly registeredId: string;
  readonly name: string;
  readonly number: number;
  readonly projectId: string | null;
  readonly source: string;
  readonly runId: string | null;
  readonly modelId: string | null;
  readonly versionId: string | null;
  readonly runLink: string;
  readonly stage: string;
  readonly description: string;
  readonly tags: TextMap;
  readonly aliases: readonly string[];
  readonly createdAt: string;
  readonly updatedAt: string;
};

/** Condition that a row with this alias is visible to a caller of the project `$2`, or of all projects when that is NULL. */
export const isVisible = (row: string, project: string): string =>
  `(${project}::uuid IS NULL OR ${row}.project_id = ${project}::uuid)
   AND (${row}.project_id IS NULL OR EXISTS (SELECT FROM runs.project_refs_v1 p WHERE p.org_id = $1 AND p.id = ${row}.project_id OFFSET 0))`;

type StoredRow = Omit<RegisteredVersionRow, "tags"> & { readonly tags: string };

const readSql = sql(
  "artifacts_read_registered_versions",
  `SELECT v.id, v.registered_id AS "registeredId", r.name, v.number, v.project_id AS "projectId", v.source, v.run_id AS "runId",
          v.model_id AS "modelId", v.version_id AS "versionId", v.run_link AS "runLink", v.stage, v.description, v.tags::text AS tags,
          a.aliases, v.created_at AS "createdAt", v.updated_at AS "updatedAt"
   FROM unnest($2::uuid[]) WITH ORDINALITY AS asked (id, ordinal)
   CROSS JOIN LATERAL (SELECT * FROM artifacts.registered_versions o WHERE o.org_id = $1 AND o.id = asked.id OFFSET 0) v
   CROSS JOIN LATERAL (
     SELECT f.name FROM artifacts.registered_models f WHERE f.org_id = $1 AND f.id = v.registered_id OFFSET 0) r
   CROSS JOIN LATERAL (
     SELECT ARRAY(SELECT f.alias FROM artifacts.registered_aliases f
                  WHERE f.org_id = $1 AND f.registered_id = v.registered_id AND f.number = v.number) AS aliases OFFSET 0) a
   ORDER BY asked.ordinal`,
);

/** Returns versions in the order of their ids; their aliases are sorted. */
export async function readVersionsOf(tx: Tx, orgId: string, ids: readonly string[]): Promise<RegisteredVersionRow[]> {
  if (ids.length === 0) return [];
  const rows = await tx.rows<StoredRow>(readSql, [orgId, ids]);
  return rows.map((row) => ({ ...row, tags: JSON.parse(row.tags) as TextMap, aliases: row.aliases.toSorted() }));
}

const findSql = sql(
  "artifacts_find_registered_version",
  `SELECT v.id FROM artifacts.registered_versions v
   WHERE v.org_id = $1 AND v.registered_id = $3 AND v.number = $4 AND ${isVisible("v", "$2")}`,
);

/** Returns the id of a version that a caller of this project, or of all, may see. */
export async function findVersionId(
  tx: Tx,
  orgId: string,
  projectId: string | undefined,
  { registeredId, number }: Pick<RegisteredVersionRow, "registeredId" | "number">,
): Promise<string | undefined> {
  return (await tx.one<{ id: string }>(findSql, [orgId, projectId ?? null, registeredId, number]))?.id;
}

/** The id of a version with the bytes of its texts. */
export type LatestRow = { readonly registeredId: string; readonly id: string; readonly bytes: number };

const latestSql = sql(
  "artifacts_list_latest_versions",
  `SELECT asked.id AS "registeredId", n.id, n.bytes FROM unnest($3::uuid[]) AS asked (id)
   CROSS JOIN unnest(ARRAY['${MODEL_STAGES.join("', '")}']) AS stages (stage)
   CROSS JOIN LATERAL (
     SELECT v.id, v.bytes, v.number FROM artifacts.registered_versions v
     WHERE v.org_id = $1 AND v.registered_id = asked.id AND v.stage = stages.stage AND ${isVisible("v", "$2")}
     ORDER BY v.number DESC LIMIT 1) n
   ORDER BY n.number`,
);

/** Returns of each stage of registered models the version with the highest number that the caller may see, by number. */
export function listLatest(
  tx: Tx,
  orgId: string,
  projectId: string | undefined,
  registeredIds: readonly string[],
): Promise<LatestRow[]> {
  return registeredIds.length === 0
    ? Promise.resolve([])
    : tx.rows(latestSql, [orgId, projectId ?? null, registeredIds]);
}

const insertSql = sql(
  "artifacts_insert_registered_version",
  `WITH taken AS (
     UPDATE artifacts.registered_models r SET next_number = r.next_number + 1, updated_at = clock_timestamp(),
       project_id = coalesce(r.project_id, $4)
     WHERE r.org_id = $1 AND r.id = $2 RETURNING r.next_number - 1 AS number
   )
   INSERT INTO artifacts.registered_versions (org_id, registered_id, number, id, project_id, source, run_id, model_id, version_id,
                                              run_link, description, tags)
   SELECT $1, $2, t.number, $3, $4, $5, $6, $7, $8, $9, $10, $11::jsonb FROM taken t`,
);

/** Stores a version with the next number of its registered model, which is locked. */
export async function insertVersion(
  tx: Tx,
  orgId: string,
  version: Omit<RegisteredVersionRow, "name" | "number" | "stage" | "aliases" | "createdAt" | "updatedAt">,
): Promise<void> {
  const { registeredId, id, projectId, source, runId, modelId, versionId, runLink, description, tags } = version;
  const values = [orgId, registeredId, id, projectId, source, runId, modelId, versionId, runLink, description];
  await tx.count(insertSql, [...values, JSON.stringify(tags)]);
}

const updateSql = sql(
  "artifacts_update_registered_version",
  `UPDATE artifacts.registered_versions SET stage = $3, description = $4, tags = $5::jsonb, updated_at = clock_timestamp()
   WHERE org_id = $1 AND id = $2`,
);

/** Changes a version. The registered model is locked. */
export async function updateVersionRow(
  tx: Tx,
  orgId: string,
  { id, stage, description, tags }: Pick<RegisteredVersionRow, "id" | "stage" | "description" | "tags">,
): Promise<void> {
  await tx.count(updateSql, [orgId, id, stage, description, JSON.stringify(tags)]);
}

const moveOthersSql = sql(
  "artifacts_move_other_registered_versions",
  `UPDATE artifacts.registered_versions SET stage = $5, updated_at = clock_timestamp()
   WHERE org_id = $1 AND registered_id = $2 AND stage = $4 AND id <> $3`,
);

/** Moves all other versions that are in the stage of a version to another stage. The registered model is locked. */
export async function moveOthers(
  tx: Tx,
  orgId: string,
  { registeredId, id, stage }: Pick<RegisteredVersionRow, "registeredId" | "id" | "stage">,
  stageOfOthers: string,
): Promise<void> {
  await tx.count(moveOthersSql, [orgId, registeredId, id, stage, stageOfOthers]);
}

const deleteSql = sql(
  "artifacts_delete_registered_version",
  `WITH gone AS (
     DELETE FROM artifacts.registered_versions WHERE org_id = $1 AND id = $2 RETURNING registered_id, number
   )
   DELETE FROM artifacts.registered_aliases a USING gone g
   WHERE a.org_id = $1 AND a.registered_id = g.registered_id AND a.number = g.number`,
);

/** Deletes a version and its aliases. The registered model is locked. */
export async function deleteVersionRow(tx: Tx, orgId: string, id: string): Promise<void> {
  await tx.count(deleteSql, [orgId, id]);
}

const filesOfRunSql = sql(
  "artifacts_list_files_of_run",
  `SELECT DISTINCT ON (a.name) a.name AS path, a.size_bytes AS "sizeBytes", a.sha256, a.mime_type AS "mimeType", a.object_id AS "objectId"
   FROM artifacts.artifacts a
   WHERE a.org_id = $1 AND a.run_id = $2 AND a.name >= $3 || '/' AND a.name < $3 || '0' AND a.object_id IS NOT NULL
     AND a.size_bytes IS NOT NULL AND a.sha256 IS NOT NULL
   ORDER BY a.name, a.created_at DESC, a.id DESC LIMIT $4::bigint`,
);

/** A file that a version refers to. The hash is 64 hexadecimal digits. */
export type StoredFile = {
  readonly path: string;
  readonly sizeBytes: number;
  readonly sha256: string;
  readonly mimeType: string;
  readonly objectId: string;
};

/** Returns the plain artifacts of a run in a folder, with their whole names: of each name the newest whose bytes are kept here. */
export function listFilesOfRun(
  tx: Tx,
  orgId: string,
  runId: string,
  folder: string,
  rowsMax: number,
): Promise<{ [Field in keyof StoredFile]: StoredFile[Field] }[]> {
  return tx.rows(filesOfRunSql, [orgId, runId, folder, rowsMax]);
}
