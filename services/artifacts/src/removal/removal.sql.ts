import { sql, type Tx } from "@tidemark/pg";

/** A run, or all runs of a project. */
type RemovalScope = { readonly runId: string | undefined; readonly projectId: string | undefined };

const measure = (runs: string): string =>
  `SELECT coalesce(sum(a.rows), 0)::float8 AS artifacts, coalesce(sum(a.bytes), 0)::float8 AS bytes
   FROM (SELECT f.id FROM runs.run_refs_v1 f WHERE f.org_id = $1 AND ${runs}) r
   CROSS JOIN LATERAL (
     SELECT count(*) AS rows, sum(s.size_bytes) AS bytes FROM artifacts.artifacts s WHERE s.org_id = $1 AND s.run_id = r.id OFFSET 0) a`;

const ofRun = sql("artifacts_measure_removal_of_run", measure("f.id = $2"));
const ofProject = sql("artifacts_measure_removal_of_project", measure("f.project_id = $2"));

/** Plain artifacts of runs, and their bytes where known. */
export type RemovalRow = { readonly artifacts: number; readonly bytes: number };

/** Returns what would be removed with the runs of a scope that can be seen. */
export async function measureRemovalOf(tx: Tx, orgId: string, { runId, projectId }: RemovalScope): Promise<RemovalRow> {
  const row =
    runId === undefined ? tx.one<RemovalRow>(ofProject, [orgId, projectId]) : tx.one<RemovalRow>(ofRun, [orgId, runId]);
  return (await row)!;
}
