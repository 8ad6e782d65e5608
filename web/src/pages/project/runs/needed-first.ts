import { PAGE_ROWS } from "../../../table/page-rows.ts";
import { isLookedUp, sortOf } from "../table/columns.ts";
import { idsPaths, runsPath, type RunsRequest } from "./run-row.ts";
import { stateOf, type ViewState } from "../view/view-state.ts";

/** Most runs that stay on top, with the baseline. */
export const PINS_MAX = 10;

/** Returns what the table of a project asks for in a state. */
export function runsQuery(project: string, { q, sort, dir, cols }: ViewState): RunsRequest {
  return { project, q, sortBy: sortOf(sort) ?? "created", dir, columns: cols.filter(isLookedUp) };
}

/** Returns the ids of the runs that stay on top, the baseline first. */
export const pinIdsOf = ({ base, pin }: ViewState): readonly string[] =>
  [...new Set([...(base === undefined ? [] : [base]), ...pin])].slice(0, PINS_MAX);

/** Returns the ids of the runs that are shown wherever they are in the table. */
export const pinnedAndShownIds = (state: ViewState): readonly string[] => [
  ...new Set([...pinIdsOf(state), ...state.show]),
];

/** Returns the paths that the page of a project reads before anything else, as its address says: its first rows, pinned and selected runs. */
export function neededFirst(project: string, query: URLSearchParams): readonly [string, ...string[]] {
  const state = stateOf(query);
  const request = runsQuery(project, state);
  const apart = new Set([...idsPaths(pinnedAndShownIds(state), request), ...idsPaths(state.sel, request)]);
  return [runsPath(request, 0, PAGE_ROWS), ...apart];
}
