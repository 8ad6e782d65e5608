import { sql, type Tx } from "@tidemark/pg";
import type { TextMap } from "../query/text-map.rules.ts";

/** A logged model as the statements return it. */
export type ModelRow = {
  readonly id: string;
  readonly orgId: string;
  readonly projectId: string;
  readonly name: string;
  readonly type: string;
  readonly status: string;
  readonly sourceRunId: string | null;
  readonly params: TextMap;
  readonly tags: TextMap;
  readonly files: number;
  readonly createdAt: string;
  readonly updatedAt: string;
};

const columns = `m.id, m.org_id AS "orgId", m.project_id AS "projectId", m.name, m.type, m.status, m.source_run_id AS "sourceRunId",
  m.params::text AS params, m.tags::text AS tags, m.files, m.created_at AS "createdAt", m.updated_at AS "updatedAt"`;

type StoredRow = Omit<ModelRow, "params" | "tags"> & { readonly params: string; readonly tags: string };

function readRow({ params, tags, ...row }: StoredRow): ModelRow {
  return { ...row, params: JSON.parse(params) as TextMap, tags: JSON.parse(tags) as TextMap };
}

/** Join that leaves out rows whose project, which the expression names, is deleted. */
const ofLiveProject = (projectId: string): string =>
  `CROSS JOIN LATERAL (SELECT FROM runs.project_refs_v1 f WHERE f.org_id = $1 AND f.id = ${projectId} OFFSET 0) live`;

const insertSql = sql(
  "artifacts_insert_model",
  `INSERT INTO artifacts.models AS m (org_id, id, project_id, name, type, source_run_id, params, tags)
   VALUES ($1, $2, $3, $4, $5, $6, $7::jsonb, $8::jsonb) RETURNING ${columns}`,
);

/** Stores and returns a model. */
export async function insertModel(
  tx: Tx,
  model: Pick<ModelRow, "orgId" | "id" | "projectId" | "name" | "type" | "sourceRunId" | "params" | "tags">,
): Promise<ModelRow> {
  const { orgId, id, projectId, name, type, sourceRunId, params, tags } = model;
  const values = [orgId, id, projectId, name, type, sourceRunId, JSON.stringify(params), JSON.stringify(tags)];
  return readRow((await tx.one<StoredRow>(insertSql, values))!);
}

const readSql = sql(
  "artifacts_read_models",
  `SELECT ${columns} FROM unnest($2::uuid[]) WITH ORDINALITY AS asked (id, ordinal)
   CROSS JOIN LATERAL (SELECT * FROM artifacts.models o WHERE o.org_id = $1 AND o.id = asked.id OFFSET 0) m
   ${ofLiveProject("m.project_id")} ORDER BY asked.ordinal`,
);

/** Returns models of projects that are not deleted, in the order of their ids. */
export async function readModels(tx: Tx, orgId: string, ids: readonly string[]): Promise<ModelRow[]> {
  return ids.length === 0 ? [] : (await tx.rows<StoredRow>(readSql, [orgId, ids])).map(readRow);
}

const lockSql = sql(
  "artifacts_lock_model",
  `SELECT ${columns} FROM artifacts.models m ${ofLiveProject("m.project_id")} WHERE m.org_id = $1 AND m.id = $2 FOR UPDATE OF m`,
);

/** Locks a model until the transaction ends, before objects and the storage of the organization, and returns it. */
export async function lockModel(tx: Tx, orgId: string, id: string): Promise<ModelRow | undefined> {
  const row = await tx.one<StoredRow>(lockSql, [orgId, id]);
  return row && readRow(row);
}

const updateSql = sql(
  "artifacts_update_model",
  `UPDATE artifacts.models m SET status = $3, params = $4::jsonb, tags = $5::jsonb, updated_at = clock_timestamp()
   WHERE m.org_id = $1 AND m.id = $2 RETURNING ${columns}`,
);

/** Changes a model that the transaction has locked. */
export async function updateModelRow(
  tx: Tx,
  orgId: string,
  { id, status, params, tags }: Pick<ModelRow, "id" | "status" | "params" | "tags">,
): Promise<ModelRow> {
  const values = [orgId, id, status, JSON.stringify(params), JSON.stringify(tags)];
  return readRow((await tx.one<StoredRow>(updateSql, values))!);
}

const deleteSql = sql(
  "artifacts_delete_model",
  `WITH metrics AS (DELETE FROM artifacts.model_metrics WHERE org_id = $1 AND model_id = $2)
   DELETE FROM artifacts.models WHERE org_id = $1 AND id = $2`,
);

/** Deletes a model that no longer has files, with its metrics. */
export async function deleteModelRow(tx: Tx, orgId: string, id: string): Promise<void> {
  await tx.count(deleteSql, [orgId, id]);
}

const nextOfProjectSql = sql(
  "artifacts_next_model_of_project",
  "SELECT id FROM artifacts.models WHERE org_id = $1 AND project_id = $2 LIMIT 1 FOR UPDATE",
);

/** Locks and returns a remaining model of a project, also of a deleted one. */
export function nextModelOfProject(
  tx: Tx,
  orgId: string,
  projectId: string,
): Promise<{ readonly id: string } | undefined> {
  return tx.one(nextOfProjectSql, [orgId, projectId]);
}

const nextOfRunSql = sql(
  "artifacts_next_model_of_run",
  `SELECT m.id FROM artifacts.models m WHERE m.org_id = $1 AND m.source_run_id = $2 AND NOT EXISTS (
     SELECT FROM artifacts.registered_versions v WHERE v.org_id = $1 AND v.model_id = m.id) LIMIT 1 FOR UPDATE`,
);

/** Locks and returns a remaining model that a run made and that the registry does not have. */
export function nextModelOfRun(tx: Tx, orgId: string, runId: string): Promise<{ readonly id: string } | undefined> {
  return tx.one(nextOfRunSql, [orgId, runId]);
}
