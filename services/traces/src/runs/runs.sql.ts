import { sql, type Tx, uuidArray } from "@tidemark/pg";

const findRuns = sql(
  "traces_find_run_refs",
  `SELECT id, project_id AS "projectId" FROM runs.run_refs_v1 WHERE org_id = $1 AND id = ANY ($2::uuid[])`,
);

/** Returns the projects of the runs that the organization has. */
export function findRunRefs(
  tx: Tx,
  orgId: string,
  runIds: readonly string[],
): Promise<{ id: string; projectId: string }[]> {
  return tx.rows(findRuns, [orgId, runIds]);
}

const readChanges = sql(
  "traces_read_run_changes",
  'SELECT snapshot, project_id AS "projectId", run_id AS "runId" FROM runs.visibility_changes_v1($1)',
);

/** A run, or all of a project, that was hidden or shown again. The first row has the snapshot and no change. */
type RunChangeRow = {
  readonly snapshot: string | null;
  readonly projectId: string | null;
  readonly runId: string | null;
};

/** Returns which runs, of any organizations, were hidden or shown again since a snapshot, and the snapshot to continue from. */
export function readRunChanges(tx: Tx, since: string | undefined): Promise<RunChangeRow[]> {
  return tx.rows(readChanges, [since ?? null]);
}

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
