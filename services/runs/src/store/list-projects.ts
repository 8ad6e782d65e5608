import { sql, type Tx } from "@tidemark/pg";
import { projectColumns, type ProjectRow } from "./project-row.ts";

const statement = sql(
  "runs_list_projects",
  `SELECT ${projectColumns} FROM runs.projects
   WHERE org_id = $1 AND ($2::uuid IS NULL OR id = $2)
   ORDER BY name LIMIT $3::bigint OFFSET $4::bigint`,
);

/** A page of projects by name; with `projectId` just that one. */
export function listProjects(
  tx: Tx,
  orgId: string,
  projectId: string | undefined,
  page: { readonly limit: number; readonly offset: bigint },
): Promise<ProjectRow[]> {
  return tx.rows(statement, [orgId, projectId ?? null, page.limit, page.offset]);
}
