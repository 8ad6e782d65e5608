import { sql, uuidArray, type Tx } from "@tidemark/pg";

/** The names of a run and its project. */
export type RunLabel = {
  readonly id: string;
  readonly projectId: string;
  readonly name: string;
  readonly project: string;
};

const labelsSql = sql(
  "traces_list_run_labels",
  `SELECT r.id, r.project_id AS "projectId", r.name, p.name AS project
   FROM unnest($2::uuid[]) AS w (id)
   CROSS JOIN LATERAL (SELECT l.id, l.project_id, l.name FROM runs.run_labels_v1 l WHERE l.org_id = $1 AND l.id = w.id OFFSET 0) r
   CROSS JOIN LATERAL (SELECT f.name FROM runs.project_refs_v1 f WHERE f.org_id = $1 AND f.id = r.project_id OFFSET 0) p`,
);

/** Returns the labels of runs of an organization, by id. */
export async function findRunLabels(tx: Tx, orgId: string, runIds: readonly string[]): Promise<Map<string, RunLabel>> {
  const rows = await tx.rows<RunLabel>(labelsSql, [orgId, uuidArray([...new Set(runIds)])]);
  return new Map(rows.map((row) => [row.id, row]));
}

const projectByNameSql = sql(
  "traces_find_project_by_name",
  "SELECT id FROM runs.project_refs_v1 WHERE org_id = $1 AND name = $2",
);
const projectByIdSql = sql("traces_find_project", "SELECT id FROM runs.project_refs_v1 WHERE org_id = $1 AND id = $2");

/** Returns the id of the project with this name, if there is one. */
export async function findProjectByName(tx: Tx, orgId: string, name: string): Promise<string | undefined> {
  return (await tx.one<{ id: string }>(projectByNameSql, [orgId, name]))?.id;
}

/** Returns whether the organization has a project with this id. */
export async function hasProject(tx: Tx, orgId: string, projectId: string): Promise<boolean> {
  return (await tx.one(projectByIdSql, [orgId, projectId])) !== undefined;
}
