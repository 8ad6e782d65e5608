import { sql, type Tx } from "@tidemark/pg";

const findProjectSql = sql(
  "reports_find_project",
  "SELECT id FROM runs.project_refs_v1 WHERE org_id = $1 AND name = $2",
);

/** Returns the id of the project with this name, if there is one. */
export async function findProjectByName(tx: Tx, orgId: string, name: string): Promise<string | undefined> {
  return (await tx.one<{ id: string }>(findProjectSql, [orgId, name]))?.id;
}
