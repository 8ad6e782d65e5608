import { plannedSql, sql, type Tx } from "@tidemark/pg";
import { parameters } from "../search/search-condition.sql.ts";
import { runSource, type RunFilter } from "./run-filter.sql.ts";

/** Numbers of runs: `running` and `failed` by stored status, `stopping` and `stopped` by display status. */
export type RunCounts = {
  readonly total: number;
  readonly running: number;
  readonly failed: number;
  readonly stopping: number;
  readonly stopped: number;
};

type CounterRow = {
  readonly running: number;
  readonly finished: number;
  readonly failed: number;
  readonly stopping: number;
  readonly finished_stopped: number;
  readonly failed_stopped: number;
};

const counters = sql(
  "runs_read_counters",
  `SELECT coalesce(sum(runs_running), 0)::bigint AS running, coalesce(sum(runs_finished), 0)::bigint AS finished,
          coalesce(sum(runs_failed), 0)::bigint AS failed, coalesce(sum(runs_stopping), 0)::bigint AS stopping,
          coalesce(sum(runs_finished_stopped), 0)::bigint AS finished_stopped,
          coalesce(sum(runs_failed_stopped), 0)::bigint AS failed_stopped
   FROM runs.projects WHERE org_id = $1 AND ($2::uuid IS NULL OR id = $2)`,
);

/** Counts the runs that pass a filter, exactly: from the projects' counters, or by counting what a search finds. */
export async function countRuns(tx: Tx, orgId: string, filter: RunFilter): Promise<RunCounts> {
  if (filter.search !== undefined || filter.ids !== undefined) return countFound(tx, orgId, filter);
  const row = await tx.one<CounterRow>(counters, [orgId, filter.projectId ?? null]);
  if (row === undefined) throw new Error("a count returned no row");
  // Every run is in exactly one group.
  const groups = [
    { status: "running", shown: "running", runs: row.running - row.stopping },
    { status: "running", shown: "stopping", runs: row.stopping },
    { status: "finished", shown: "finished", runs: row.finished - row.finished_stopped },
    { status: "finished", shown: "stopped", runs: row.finished_stopped },
    { status: "failed", shown: "failed", runs: row.failed - row.failed_stopped },
    { status: "failed", shown: "stopped", runs: row.failed_stopped },
  ].filter(
    ({ status, shown }) =>
      (filter.status === undefined || filter.status === status) &&
      (filter.displayStatus === undefined || filter.displayStatus === shown),
  );
  const sum = (counts: (group: (typeof groups)[number]) => boolean): number =>
    groups.filter(counts).reduce((total, { runs }) => total + runs, 0);
  return {
    total: sum(() => true),
    running: sum(({ status }) => status === "running"),
    failed: sum(({ status }) => status === "failed"),
    stopping: sum(({ shown }) => shown === "stopping"),
    stopped: sum(({ shown }) => shown === "stopped"),
  };
}

async function countFound(tx: Tx, orgId: string, filter: RunFilter): Promise<RunCounts> {
  const { values, bind } = parameters(orgId);
  const { from, where, id } = runSource(filter, false, bind);
  const run = id.split(".")[0];
  const statement = plannedSql(
    "runs_count_found",
    `SELECT count(*) AS total, count(*) FILTER (WHERE ${run}.status = 'running') AS running,
            count(*) FILTER (WHERE ${run}.status = 'failed') AS failed,
            count(*) FILTER (WHERE ${run}.display_status = 'stopping') AS stopping,
            count(*) FILTER (WHERE ${run}.display_status = 'stopped') AS stopped
     FROM ${from} WHERE ${where}`,
  );
  const row = await tx.one<RunCounts>(statement, values);
  if (row === undefined) throw new Error("a count returned no row");
  return row;
}

const ofProjects = sql(
  "runs_count_points_of_projects",
  `SELECT coalesce(sum(p.points), 0)::bigint AS points FROM ingest.project_points_v1 p
   WHERE p.org_id = $1 AND ($2::uuid IS NULL OR p.project_id = $2)`,
);

/** Counts the metric values of the runs that pass a filter: from the projects' counters, or by looking at the runs. */
export async function countMetricPoints(tx: Tx, orgId: string, filter: RunFilter): Promise<number> {
  const { projectId, status, displayStatus, search, ids } = filter;
  if ([status, displayStatus, search, ids].every((part) => part === undefined)) {
    return (await tx.one<{ points: number }>(ofProjects, [orgId, projectId ?? null]))?.points ?? 0;
  }
  const { values, bind } = parameters(orgId);
  const { from, where, id } = runSource(filter, false, bind);
  const statement = plannedSql(
    "runs_count_points_of_runs",
    // OFFSET keeps it a look-up per run: a join would read all runs of all organizations.
    `SELECT coalesce(sum(p.points), 0)::bigint AS points
     FROM (SELECT ${id} AS id FROM ${from} WHERE ${where}) r
     CROSS JOIN LATERAL (SELECT m.points FROM ingest.run_points_v1 m WHERE m.org_id = $1 AND m.run_id = r.id OFFSET 0) p`,
  );
  return (await tx.one<{ points: number }>(statement, values))?.points ?? 0;
}
