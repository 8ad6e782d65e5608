import type { RunFilter } from "../domain/run-list.ts";
import { searchCondition, type Bind, type PlainTree } from "../search/search-condition.sql.ts";

/** A filter whose search, if it has one, SQL alone can decide. */
export type PlainFilter = Omit<RunFilter, "search"> & {
  readonly search: PlainTree | undefined;
  /** Only these runs; undefined: all. */
  readonly ids?: readonly string[];
  /** Few runs pass the filter, so that they are better taken by it than met in the order of the list. */
  readonly few?: boolean;
};

/** Where the runs of a list come from: SQL, with `$1` the organization. */
export type RunSource = {
  /** What the statement begins with: the search, or nothing. */
  readonly with: string;
  /** FROM list; the columns are named below. */
  readonly from: string;
  readonly where: string;
  readonly id: string;
  readonly createdAt: string;
};

/**
 * The runs that pass a filter. `row` tells whether the caller needs columns of runs.runs, as `r`;
 * without them a search reads its own table alone, in the order that is wanted. With them it is done
 * by itself first, as `found`: joined to a table that row level security holds, it could not use its
 * indexes. So it is when `counted` says that all it finds is wanted.
 */
export function runSource(filter: PlainFilter, row: boolean, bind: Bind, counted = false): RunSource {
  const { search, ids } = filter;
  if (filter.few === true) {
    const few = `SELECT r.id AS run_id FROM runs.runs r WHERE ${columnConditions(filter, "r", bind)}`;
    return foundRuns(`WITH found AS MATERIALIZED (${few})`);
  }
  if (search === undefined) {
    const chosen = ids === undefined ? undefined : `unnest(${bind(ids)}::uuid[]) AS chosen (id)`;
    const from = chosen === undefined ? "runs.runs r" : `${chosen} JOIN runs.runs r ON r.id = chosen.id`;
    return { with: "", from, where: columnConditions(filter, "r", bind), id: "r.id", createdAt: "r.created_at" };
  }
  const found = `${columnConditions(filter, "t", bind)} AND (${searchCondition(search, bind)})`;
  if (!row && !counted) {
    return { with: "", from: "runs.found_runs t", where: found, id: "t.run_id", createdAt: "t.created_at" };
  }
  const first = `WITH found AS MATERIALIZED (SELECT t.run_id, t.created_at FROM runs.found_runs t WHERE ${found})`;
  if (!row) return { with: first, from: "found", where: "true", id: "found.run_id", createdAt: "found.created_at" };
  return foundRuns(first);
}

/** The rows of the runs that the beginning of the statement found. */
function foundRuns(first: string): RunSource {
  return {
    with: first,
    from: "found JOIN runs.runs r ON r.id = found.run_id",
    where: "r.org_id = $1",
    id: "r.id",
    createdAt: "r.created_at",
  };
}

/** The statuses that a run of a stored status may show, so that an index by the status shown can be used. */
const SHOWN: Readonly<Record<string, string>> = {
  running: "('running', 'stopping')",
  finished: "('finished', 'stopped')",
  failed: "('failed', 'stopped')",
};

/** Conditions on the columns that runs.runs and runs.found_runs both have. */
export function columnConditions(
  { projectId, status, displayStatus }: Pick<PlainFilter, "projectId" | "status" | "displayStatus">,
  alias: "r" | "t",
  bind: Bind,
): string {
  return [
    `${alias}.org_id = $1`,
    ...(projectId === undefined ? [] : [`${alias}.project_id = ${bind(projectId)}::uuid`]),
    ...(status === undefined ? [] : [`${alias}.status = ${bind(status)}`]),
    ...(status === undefined || SHOWN[status] === undefined ? [] : [`${alias}.display_status IN ${SHOWN[status]}`]),
    ...(displayStatus === undefined ? [] : [`${alias}.display_status = ${bind(displayStatus)}`]),
  ].join(" AND ");
}
