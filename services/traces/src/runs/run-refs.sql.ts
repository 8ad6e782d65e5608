import { sql, type Tx } from "@tidemark/pg";

const findRuns = sql(
  "traces_find_run_refs",
  `SELECT id, project_id AS "projectId" FROM runs.run_refs_v1 WHERE org_id = $1 AND id = ANY ($2::uuid[])`,
);

/** Returns the projects of those of the runs that the organization has. */
export function findRunRefs(
  tx: Tx,
  orgId: string,
  runIds: readonly string[],
): Promise<{ id: string; projectId: string }[]> {
  return tx.rows(findRuns, [orgId, runIds]);
}
