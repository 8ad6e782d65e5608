import { notFound } from "@tidemark/errors";
import { sql, type Tx } from "@tidemark/pg";

const SEE_DELETED = "set_config('app.sees_deleted', 'on', true)";

/**
 * In the select list of a statement that locks a row: if the row is found, the rest of the transaction sees rows of deleted projects, so that
 * it ends as it began also when the project of the row is deleted meanwhile.
 */
export const keepSeeing = `${SEE_DELETED} AS "seesDeleted"`;

const seeDeletedSql = sql("reports_see_deleted", `SELECT ${SEE_DELETED}`);

/** Lets the rest of the transaction see the reports and views of deleted projects along with the others. No request of a person starts with this. */
export async function seeDeleted(tx: Tx): Promise<void> {
  await tx.rows(seeDeletedSql, []);
}

const enterSql = sql(
  "reports_enter_project",
  `SELECT runs.is_deleted_project_v1($1, $2) AS "isDeleted", ${keepSeeing}`,
);
const enterNamedSql = sql(
  "reports_enter_named_project",
  `SELECT runs.names_deleted_project_v1($1, $2) AS "isDeleted", ${keepSeeing}`,
);

type Entered = { readonly isDeleted: boolean };

/** Begins to write a row of a project; then as `keepSeeing`. A project that never existed does not count as deleted. @throws not_found for a deleted one */
export async function enterProject(tx: Tx, orgId: string, projectId: string | null): Promise<void> {
  if (projectId === null) return;
  if ((await tx.one<Entered>(enterSql, [orgId, projectId]))!.isDeleted) throw notFound("project");
}

/** The same for a project that a person names, by its name or by its id. @throws not_found for a deleted one */
export async function enterNamedProject(tx: Tx, orgId: string, project: string | null | undefined): Promise<void> {
  if (project === null || project === undefined) return;
  if ((await tx.one<Entered>(enterNamedSql, [orgId, project]))!.isDeleted) throw notFound("project");
}
