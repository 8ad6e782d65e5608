import { sql, type Tx } from "@tidemark/pg";

const statement = sql(
  "runs_count_projects",
  "SELECT count(*) AS total FROM runs.projects WHERE org_id = $1 AND ($2::uuid IS NULL OR id = $2)",
);

/** How many projects `listProjects` pages through. */
export async function countProjects(tx: Tx, orgId: string, projectId: string | undefined): Promise<number> {
  const row = await tx.one<{ total: number }>(statement, [orgId, projectId ?? null]);
  return row?.total ?? 0;
}
