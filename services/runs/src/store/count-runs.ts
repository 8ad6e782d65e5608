import { plannedSql, sql, type Tx } from "@tidemark/pg";
import { parameters } from "../search/search-condition.sql.ts";
import { runSource, type PlainFilter } from "./run-conditions.ts";

/** Runs by stored status and status shown. */
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

/** How many runs pass a filter, exactly: from the projects' counters, or for a search by counting what it finds. */
export async function countRuns(tx: Tx, orgId: string, filter: PlainFilter): Promise<RunCounts> {
  if (filter.search !== undefined || filter.ids !== undefined) return countFound(tx, orgId, filter);
  const row = await tx.one<CounterRow>(counters, [orgId, filter.projectId ?? null]);
  if (row === undefined) throw new Error("an aggregate without a row");
  // Every run is in exactly one of these.
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

async function countFound(tx: Tx, orgId: string, filter: PlainFilter): Promise<RunCounts> {
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
  if (row === undefined) throw new Error("an aggregate without a row");
  return row;
}
