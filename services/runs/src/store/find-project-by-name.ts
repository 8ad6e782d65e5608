import { sql, type Tx } from "@tidemark/pg";
import { projectColumns, type ProjectRow } from "./project-row.ts";

const statement = sql(
  "runs_find_project_by_name",
  `SELECT ${projectColumns} FROM runs.projects WHERE org_id = $1 AND name = $2`,
);

/** The organization's project of this name. */
export function findProjectByName(tx: Tx, orgId: string, name: string): Promise<ProjectRow | undefined> {
  return tx.one(statement, [orgId, name]);
}
