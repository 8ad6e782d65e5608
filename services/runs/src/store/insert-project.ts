import { sql, type Tx } from "@tidemark/pg";
import { projectColumns, type ProjectRow } from "./project-row.ts";

const statement = sql(
  "runs_insert_project",
  `INSERT INTO runs.projects (org_id, id, name, description) VALUES ($1, $2, $3, $4)
   ON CONFLICT (org_id, name) DO NOTHING
   RETURNING ${projectColumns}`,
);

/** Stores a project. Undefined when the name exists by now, also when a concurrent transaction has just made it. */
export function insertProject(
  tx: Tx,
  orgId: string,
  project: { readonly id: string; readonly name: string; readonly description: string | undefined },
): Promise<ProjectRow | undefined> {
  return tx.one(statement, [orgId, project.id, project.name, project.description ?? null]);
}
