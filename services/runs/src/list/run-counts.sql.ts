import { plannedSql, sql, type Tx } from "@tidemark/pg";
import { parameters } from "../read/runs.sql.ts";
import { runSource, type RunFilter, type StaleFilter } from "./run-filter.sql.ts";

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

const counters = `SELECT coalesce(sum(runs_running), 0)::bigint AS running, coalesce(sum(runs_finished), 0)::bigint AS finished,
          coalesce(sum(runs_failed), 0)::bigint AS failed, coalesce(sum(runs_stopping), 0)::bigint AS stopping,
          coalesce(sum(runs_finished_stopped), 0)::bigint AS finished_stopped,
          coalesce(sum(runs_failed_stopped), 0)::bigint AS failed_stopped
   FROM runs.projects WHERE org_id = $1`;

const ofOrganization = sql("runs_read_counters", counters);
const ofProject = sql("runs_read_counters_of_project", `${counters} AND id = $2`);

/** Adds up the counters of a project, or of all projects. */
function readCounters(tx: Tx, orgId: string, projectId: string | undefined): Promise<CounterRow | undefined> {
  return projectId === undefined ? tx.one(ofOrganization, [orgId]) : tx.one(ofProject, [orgId, projectId]);
}

/** Counts the runs that pass a filter, exactly: from the projects' counters, or by counting the runs that a search finds. */
export async function countRuns(tx: Tx, orgId: string, filter: RunFilter): Promise<RunCounts> {
  if (filter.search !== undefined || filter.ids !== undefined) return countFound(tx, orgId, filter);
  if (filter.stale !== undefined) return countByStaleness(tx, orgId, filter, filter.stale);
  const row = await readCounters(tx, orgId, filter.projectId);
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

/** Looks at the running runs only: all other runs are not stale. */
async function countByStaleness(tx: Tx, orgId: string, filter: RunFilter, stale: StaleFilter): Promise<RunCounts> {
  const found = await countFound(tx, orgId, { ...filter, stale: { ...stale, wanted: true } });
  if (stale.wanted) return found;
  const all = await countRuns(tx, orgId, { ...filter, stale: undefined });
  return {
    total: all.total - found.total,
    running: all.running - found.running,
    failed: all.failed - found.failed,
    stopping: all.stopping - found.stopping,
    stopped: all.stopped - found.stopped,
  };
}

async function countFound(tx: Tx, orgId: string, filter: RunFilter): Promise<RunCounts> {
  const { values, bind } = parameters(orgId);
  const { from, where, id } = runSource(filter, "status", bind);
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

// The counters of projects hold the values of deleted runs until these are removed.
const points = (projects: string, project: string): string =>
  `SELECT coalesce(sum(p.points), 0)::bigint - coalesce((
     SELECT sum(d.points) FROM runs.deleted_runs($1, ${project}) r
     CROSS JOIN LATERAL (SELECT m.points FROM ingest.run_points_v1 m WHERE m.org_id = $1 AND m.run_id = r.id OFFSET 0) d), 0)::bigint AS points
   FROM (SELECT j.id FROM runs.projects j WHERE ${projects}) j
   CROSS JOIN LATERAL (SELECT o.points FROM ingest.project_points_v1 o WHERE o.org_id = $1 AND o.project_id = j.id OFFSET 0) p`;

const pointsOfOrganization = sql("runs_count_points", points("j.org_id = $1", "NULL"));
const pointsOfProject = sql("runs_count_points_of_project", points("j.org_id = $1 AND j.id = $2", "$2"));

/** Counts the metric values of the runs that pass a filter: from the projects' counters, or by looking at the runs. */
export async function countMetricPoints(tx: Tx, orgId: string, filter: RunFilter): Promise<number> {
  const { projectId, status, displayStatus, search, ids, stale } = filter;
  if ([status, displayStatus, search, ids, stale].every((part) => part === undefined)) {
    const row =
      projectId === undefined
        ? tx.one<{ points: number }>(pointsOfOrganization, [orgId])
        : tx.one<{ points: number }>(pointsOfProject, [orgId, projectId]);
    return (await row)?.points ?? 0;
  }
  const { values, bind } = parameters(orgId);
  const { with: first, from, where, id } = runSource(filter, "position", bind);
  const statement = plannedSql(
    "runs_count_points_of_runs",
    `${first} SELECT coalesce(sum(p.points), 0)::bigint AS points
     FROM (SELECT ${id} AS id FROM ${from} WHERE ${where}) r
     CROSS JOIN LATERAL (SELECT m.points FROM ingest.run_points_v1 m WHERE m.org_id = $1 AND m.run_id = r.id OFFSET 0) p`,
  );
  return (await tx.one<{ points: number }>(statement, values))?.points ?? 0;
}
