import { sql, type Tx } from "@tidemark/pg";

/** A run, all runs of a project, or with neither all runs of the organization. */
type RemovalScope = { readonly runId: string | undefined; readonly projectId: string | undefined };

const measure = (runs: string): string =>
  `SELECT coalesce(sum(a.rows), 0)::float8 AS artifacts, coalesce(sum(a.bytes), 0)::float8 AS bytes
   FROM (SELECT f.id FROM runs.run_refs_v1 f WHERE f.org_id = $1 AND ${runs}) r
   CROSS JOIN LATERAL (
     SELECT count(*) AS rows, sum(s.size_bytes) AS bytes FROM artifacts.artifacts s WHERE s.org_id = $1 AND s.run_id = r.id OFFSET 0) a`;

const ofRun = sql("artifacts_measure_removal_of_run", measure("f.id = $2"));
const ofProject = sql("artifacts_measure_removal_of_project", measure("f.project_id = $2"));
const ofOrganization = sql("artifacts_measure_removal_of_organization", measure("true"));

/** Plain artifacts of runs, and their bytes where known. */
export type RemovalRow = { readonly artifacts: number; readonly bytes: number };

/** Returns what would be removed with the visible runs of a scope. */
export async function measureRemovalOf(tx: Tx, orgId: string, { runId, projectId }: RemovalScope): Promise<RemovalRow> {
  const [statement, id] =
    runId !== undefined ? [ofRun, runId] : projectId !== undefined ? [ofProject, projectId] : [ofOrganization];
  return (await tx.one<RemovalRow>(statement, id === undefined ? [orgId] : [orgId, id]))!;
}
