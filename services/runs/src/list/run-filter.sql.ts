import { searchCondition, type Bind, type PlainTree } from "../search/search-condition.sql.ts";

/** The runs of a list: those that pass every member. An undefined member lets all runs pass. */
export type RunFilter = {
  readonly projectId: string | undefined;
  /** Stored status. */
  readonly status: string | undefined;
  readonly displayStatus: string | undefined;
  readonly search: PlainTree | undefined;
  /** Only these runs. */
  readonly ids?: readonly string[];
  /** Whether so few runs pass that looking them up is quicker than meeting them on a walk along the order of the list. */
  readonly few?: boolean;
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

/**
 * Returns the runs that pass a filter. `row` tells whether the caller needs columns of runs.runs, as `r`.
 * Without them, a search reads only its own table, in the order of the list. With them, the search comes
 * first, as `found`, because joined to a table under row level security it could not use its indexes.
 * It also comes first with `counted`, which tells that the caller counts all that it finds.
 */
export function runSource(filter: RunFilter, row: boolean, bind: Bind, counted = false): RunSource {
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

/** Returns the rows of the runs that the start of the statement found. */
function foundRuns(first: string): RunSource {
  return {
    with: first,
    from: "found JOIN runs.runs r ON r.id = found.run_id",
    where: "r.org_id = $1",
    id: "r.id",
    createdAt: "r.created_at",
  };
}

/** The display statuses of a stored status, so that an index by display status can be used. */
const SHOWN: Readonly<Record<string, string>> = {
  running: "('running', 'stopping')",
  finished: "('finished', 'stopped')",
  failed: "('failed', 'stopped')",
};

/** Returns conditions on the columns that both runs.runs and runs.found_runs have. */
export function columnConditions(
  { projectId, status, displayStatus }: Pick<RunFilter, "projectId" | "status" | "displayStatus">,
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
