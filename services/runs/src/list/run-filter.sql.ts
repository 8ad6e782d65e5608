import { staleCondition } from "../life/signs-of-life.sql.ts";
import { runOfId, type Bind } from "../read/runs.sql.ts";
import { searchCondition, type PlainTree } from "../search/search-condition.sql.ts";

/** Runs that are running and were last seen before an instant, RFC 3339; or all others. */
export type StaleFilter = { readonly wanted: boolean; readonly before: string };

/** The runs of a list: those that pass every member. An undefined member lets all runs pass. */
export type RunFilter = {
  readonly projectId: string | undefined;
  /** Stored status. */
  readonly status: string | undefined;
  readonly displayStatus: string | undefined;
  /** Only runs that are stale, or only others. */
  readonly stale?: StaleFilter | undefined;
  readonly search: PlainTree | undefined;
  /** Only these runs. */
  readonly ids?: readonly string[];
  /** Whether so few runs pass that looking them up is quicker than finding them on a walk along the order of the list. */
  readonly few?: boolean;
  /** Whether reading all of the filter first is quicker than a walk along the order that looks up each run it passes. */
  readonly deep?: boolean;
};

/** SQL that selects the runs of a list; `$1` is the organization. */
export type RunSource = {
  /** Start of the statement: the WITH clause of the search, or nothing. */
  readonly with: string;
  /** FROM list. */
  readonly from: string;
  readonly where: string;
  readonly id: string;
  readonly createdAt: string;
};

/** The parts of each run that are needed: its id and when it was created; also columns of runs.runs, as `r`; or its status, as `r.status` or `t.status`. */
type Need = "position" | "row" | "status";

/**
 * Returns the runs that pass a filter. A search comes first, as `found`, and runs.runs is looked up for the runs it found: joined to a table under row
 * level security it could not use its indexes.
 */
export function runSource(filter: RunFilter, need: Need, bind: Bind): RunSource {
  const { search, ids, few } = filter;
  const ofRun = { id: "r.id", createdAt: "r.created_at" };
  if (search === undefined) {
    const where = columnConditions(filter, "r", bind);
    const own = { with: "", from: "runs.runs r", where, ...ofRun };
    if (ids !== undefined)
      return { ...own, from: `unnest(${bind(ids)}::uuid[]) AS chosen (id) ${runOfId("chosen.id")}` };
    if (few !== true) return own;
    const { status, displayStatus, stale } = filter;
    // The order names the index of statuses: without statistics PostgreSQL considers any index of a project as good, and reads the whole project.
    const order = (status ?? displayStatus) !== undefined || stale?.wanted === true ? " ORDER BY r.display_status" : "";
    const first = `WITH few AS MATERIALIZED (SELECT ${SORTED_BY} FROM runs.runs r WHERE ${where}${order})`;
    return { with: first, from: "few r", where: "true", ...ofRun };
  }
  const where = `${columnConditions(filter, "t", bind)} AND (${searchCondition(search, bind)})`;
  if (need === "status")
    return { with: "", from: "runs.found_runs t", where, id: "t.run_id", createdAt: "t.created_at" };
  const first = `WITH found AS MATERIALIZED (SELECT t.run_id, t.created_at FROM runs.found_runs t WHERE ${where})`;
  return need === "row"
    ? { with: first, from: `found ${runOfId("found.run_id")}`, where: "true", ...ofRun }
    : { with: first, from: "found", where: "true", id: "found.run_id", createdAt: "found.created_at" };
}

/**
 * Returns how a walk along values, each with the id of a run, finds the runs `r` for which `where` holds: a join of `runs.runs`, and a condition.
 * A deep walk does not join it: all ids of the filter are read once, into a hash table, and looked up there, in a fifth of the time. PostgreSQL
 * makes a join of `IN`, and then sorts, but not where it is part of an expression.
 */
export function joinForIndexScan(
  { deep }: Pick<RunFilter, "deep">,
  runId: string,
  where: string,
): { readonly join: string; readonly where: string } {
  if (deep !== true) return { join: runOfId(runId), where };
  return { join: "", where: `(${runId} IN (SELECT r.id FROM runs.runs r WHERE ${where})) IS TRUE` };
}

/** The columns that lists are sorted by, in addition to metrics. */
const SORTED_BY = "r.id, r.created_at, r.name, r.display_status, r.duration";

/** The display statuses of a stored status, so that an index by display status can be used. */
const SHOWN: Readonly<Record<string, string>> = {
  running: "('running', 'stopping')",
  finished: "('finished', 'stopped')",
  failed: "('failed', 'stopped')",
};

/** Stale runs are found among the running ones, by the index of display statuses. */
function staleness({ wanted, before }: StaleFilter, alias: "r" | "t", bind: Bind): string {
  const is = staleCondition(alias, bind(before));
  return wanted ? `${alias}.display_status IN ${SHOWN["running"]} AND ${is}` : `NOT ${is}`;
}

/** Returns conditions on the columns that both runs.runs and runs.found_runs have. */
export function columnConditions(
  { projectId, status, displayStatus, stale }: Pick<RunFilter, "projectId" | "status" | "displayStatus" | "stale">,
  alias: "r" | "t",
  bind: Bind,
): string {
  return [
    `${alias}.org_id = $1`,
    ...(projectId === undefined ? [] : [`${alias}.project_id = ${bind(projectId)}::uuid`]),
    ...(status === undefined ? [] : [`${alias}.status = ${bind(status)}`]),
    ...(status === undefined || SHOWN[status] === undefined ? [] : [`${alias}.display_status IN ${SHOWN[status]}`]),
    ...(displayStatus === undefined ? [] : [`${alias}.display_status = ${bind(displayStatus)}`]),
    ...(stale === undefined ? [] : [staleness(stale, alias, bind)]),
  ].join(" AND ");
}
