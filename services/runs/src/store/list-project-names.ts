import { sql, type Tx } from "@tidemark/pg";
import type { ProjectName } from "../domain/search/settle-terms.ts";

const statement = sql(
  "runs_list_project_names",
  "SELECT id, lower(name) AS name FROM runs.projects WHERE org_id = $1 AND ($2::uuid IS NULL OR id = $2)",
);

/** The organization's projects, or the one of `projectId`, by names whose ASCII letters are lowered: collation C knows no others. */
export function listProjectNames(tx: Tx, orgId: string, projectId: string | undefined): Promise<ProjectName[]> {
  return tx.rows(statement, [orgId, projectId ?? null]);
}
