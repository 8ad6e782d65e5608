import { inBatches, organizationRemover, removalSql, removeRows, sql, type Db } from "@tidemark/pg";

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
