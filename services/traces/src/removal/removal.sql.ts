import { sql, type Tx } from "@tidemark/pg";

/** A run, all runs of a project, or with neither all runs of the organization. */
type RemovalScope = { readonly runId: string | undefined; readonly projectId: string | undefined };

const measure = (runs: string): string =>
  `SELECT coalesce(sum(t.rows), 0)::float8 AS traces, coalesce(sum(t.bytes), 0)::float8 AS bytes
   FROM (SELECT f.id FROM runs.run_refs_v1 f WHERE f.org_id = $1 AND ${runs}) r
   CROSS JOIN LATERAL (
     SELECT count(*) AS rows, sum(s.bytes) AS bytes FROM traces.traces t
     CROSS JOIN LATERAL (
       SELECT sum(octet_length(g.tree) + octet_length(g.payloads)) AS bytes FROM traces.segments g
       WHERE g.org_id = $1 AND g.trace_id = t.trace_id AND g.run_id = t.run_id OFFSET 0) s
     WHERE t.org_id = $1 AND t.run_id = r.id OFFSET 0) t`;

const ofRun = sql("traces_measure_removal_of_run", measure("f.id = $2"));
const ofProject = sql("traces_measure_removal_of_project", measure("f.project_id = $2"));
const ofOrganization = sql("traces_measure_removal_of_organization", measure("true"));

/** Traces of runs, and the stored bytes of their spans. */
export type RemovalRow = { readonly traces: number; readonly bytes: number };

/** Returns the amounts that would be removed with the visible runs of a scope. */
export async function measureRemovalOf(tx: Tx, orgId: string, { runId, projectId }: RemovalScope): Promise<RemovalRow> {
  const [statement, id] =
    runId !== undefined ? [ofRun, runId] : projectId !== undefined ? [ofProject, projectId] : [ofOrganization];
  return (await tx.one<RemovalRow>(statement, id === undefined ? [orgId] : [orgId, id]))!;
}
