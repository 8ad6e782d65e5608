import { sql, type Tx } from "@tidemark/pg";
import { projectColumns, type ProjectPage, type ProjectRow } from "../projects/projects.sql.ts";

const lockSql = sql(
  "runs_lock_project",
  `SELECT ${projectColumns}, coalesce(purge_after <= clock_timestamp(), false) AS "isOver"
   FROM runs.projects WHERE org_id = $1 AND id = $2 FOR UPDATE`,
);

/** A project that this transaction has locked. */
export type LockedProject = ProjectRow & {
  /** It can no longer be restored. */
  readonly isOver: boolean;
};

/** Locks a project until the transaction ends; undefined when the organization does not have it. */
export function lockProject(tx: Tx, orgId: string, projectId: string): Promise<LockedProject | undefined> {
  return tx.one(lockSql, [orgId, projectId]);
}

const markSql = sql(
  "runs_mark_project_deleted",
  `UPDATE runs.projects p SET deleted_at = n.at, purge_after = n.at + $3 * interval '1 day', unsettled = true
   FROM (SELECT clock_timestamp() AS at) n WHERE p.org_id = $1 AND p.id = $2
   RETURNING ${projectColumns}`,
);

/** Marks a project as deleted, to be removed after `graceDays`; its runs have to be hidden. Returns it. */
export async function markProject(tx: Tx, orgId: string, projectId: string, graceDays: number): Promise<ProjectRow> {
  return (await tx.one<ProjectRow>(markSql, [orgId, projectId, graceDays]))!;
}

const unmarkSql = sql(
  "runs_unmark_project_deleted",
  `UPDATE runs.projects SET deleted_at = NULL, purge_after = NULL, unsettled = true WHERE org_id = $1 AND id = $2
   RETURNING ${projectColumns}`,
);

/** Removes the mark of a deleted project; its runs have to be shown. Returns it. Fails on the unique name while another project has it. */
export async function unmarkProject(tx: Tx, orgId: string, projectId: string): Promise<ProjectRow> {
  return (await tx.one<ProjectRow>(unmarkSql, [orgId, projectId]))!;
}

const listSql = sql(
  "runs_list_deleted_projects",
  `SELECT ${projectColumns} FROM runs.projects WHERE org_id = $1 AND purge_after > now()
   ORDER BY name, deleted_at, id LIMIT $2::bigint OFFSET $3::bigint`,
);
const countSql = sql(
  "runs_count_deleted_projects",
  "SELECT count(*) AS total FROM runs.projects WHERE org_id = $1 AND purge_after > now()",
);

/** Returns a page of the deleted projects that can be restored, by name, and how many there are. The transaction sees deleted rows. */
export async function listDeletedProjects(
  tx: Tx,
  orgId: string,
  { limit, offset }: ProjectPage,
): Promise<{ rows: ProjectRow[]; total: number }> {
  const rows = await tx.rows<ProjectRow>(listSql, [orgId, limit, offset]);
  return { rows, total: (await tx.one<{ total: number }>(countSql, [orgId]))!.total };
}
