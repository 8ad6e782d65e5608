import { inBatches, organizationRemover, removalSql, removeRows, sql, type Db, type Tx } from "@tidemark/pg";

// A compaction locks the trace, and finds none afterwards.
const removeTracesSql = sql(
  "traces_remove_traces_of_run",
  `WITH picked AS MATERIALIZED (
     SELECT t.trace_id FROM traces.traces t WHERE t.org_id = $1 AND t.run_id = $2 ORDER BY t.trace_id LIMIT $3::bigint FOR UPDATE
   ), segments AS (
     DELETE FROM traces.segments s USING picked p WHERE s.org_id = $1 AND s.trace_id = p.trace_id AND s.run_id = $2
   ), work AS (
     DELETE FROM traces.compaction_work w USING picked p WHERE w.org_id = $1 AND w.trace_id = p.trace_id AND w.run_id = $2
   )
   DELETE FROM traces.traces t USING picked p WHERE t.org_id = $1 AND t.trace_id = p.trace_id AND t.run_id = $2`,
);
const removeMinutesSql = removalSql("traces_remove_minutes", "traces.minutes", "org_id = $2 AND scope_id = $3");

/** Removes all traces of an organization. `db` runs as the worker. */
export const removeOrganizationRows = organizationRemover("traces", [
  "segments",
  "compaction_work",
  "traces",
  "minutes",
  "event_counts",
]);

/** A trace has a few segments, of some megabytes at most. */
const TRACES_MAX = 100;

/** Removes all traces of a run. `db` runs as the worker. */
export async function removeRunRows(db: Db, orgId: string, runId: string): Promise<void> {
  await inBatches(TRACES_MAX, (rowsMax) =>
    db.withTenant(orgId, (tx) => tx.count(removeTracesSql, [orgId, runId, rowsMax])),
  );
  await removeScopeRows(db, orgId, runId);
}

/** Removes the per-minute rows that lists use for a run or a project. `db` runs as the worker. */
export async function removeScopeRows(db: Db, orgId: string, scopeId: string): Promise<void> {
  await removeRows(db, orgId, { statement: removeMinutesSql, values: [orgId, scopeId] });
}

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
type RemovalRow = { readonly traces: number; readonly bytes: number };

/** Returns the amounts that would be removed with the visible runs of a scope. */
export async function measureRemovalOf(tx: Tx, orgId: string, { runId, projectId }: RemovalScope): Promise<RemovalRow> {
  const [statement, id] =
    runId !== undefined ? [ofRun, runId] : projectId !== undefined ? [ofProject, projectId] : [ofOrganization];
  return (await tx.one<RemovalRow>(statement, id === undefined ? [orgId] : [orgId, id]))!;
}
