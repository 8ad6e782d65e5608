import { sql, type Tx } from "@tidemark/pg";
import { projectColumns, type ProjectRow } from "./project-row.ts";

const statement = sql("runs_find_project", `SELECT ${projectColumns} FROM runs.projects WHERE org_id = $1 AND id = $2`);

/** The project with this id, if it is in the organization. */
export function findProject(tx: Tx, orgId: string, projectId: string): Promise<ProjectRow | undefined> {
  return tx.one(statement, [orgId, projectId]);
}
