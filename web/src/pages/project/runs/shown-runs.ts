import { stateOf, type ViewState } from "../view/view-state.ts";
import { PAGE_ROWS } from "../../../table/page-rows.ts";
import { isLookedUp, sortOf } from "../table/columns.ts";
import type { RunRow } from "../../../api/run-types.ts";

/** Lines of more runs than this are not drawn, and an address holds no more hidden runs. */
export const LINES_MAX = 100;

/** Whether the lines of a run are shown: those of the first runs and of pinned ones are, unless a person said otherwise. */
export function isShown({ show, hide, pin, base, first }: ViewState, id: string, index: number | undefined): boolean {
  if (hide.includes(id)) return false;
  return show.includes(id) || pin.includes(id) || base === id || (index !== undefined && index < first);
}

/** Shows or hides runs. */
export function withShown(
  { show, hide }: Pick<ViewState, "show" | "hide">,
  ids: readonly string[],
  isOn: boolean,
): Pick<ViewState, "show" | "hide"> {
  const others = (list: readonly string[]): string[] => list.filter((id) => !ids.includes(id));
  return isOn
    ? { show: [...others(show), ...ids].slice(-LINES_MAX), hide: others(hide) }
    : { show: others(show), hide: [...others(hide), ...ids].slice(-LINES_MAX) };
}

/** Takes runs out of groups, or puts them back. */
export function withHidden(hide: readonly string[], ids: readonly string[], isHidden: boolean): readonly string[] {
  const others = hide.filter((id) => !ids.includes(id));
  return isHidden ? [...others, ...ids].slice(-LINES_MAX) : others;
}

/** Returns what the eye of a group does: it hides the runs that charts count in; where all are hidden, it shows them. `ids` are those of the group. */
export function groupToggle(
  ids: readonly string[],
  hidden: ReadonlySet<string>,
): { readonly ids: readonly string[]; readonly isOn: boolean } {
  const counted = ids.filter((id) => !hidden.has(id));
  return counted.length > 0 ? { ids: counted, isOn: false } : { ids, isOn: true };
}

/** Adds an id to a list, or takes it out. */
export const toggled = (list: readonly string[], id: string): readonly string[] =>
  list.includes(id) ? list.filter((one) => one !== id) : [...list, id];

/** Most runs that stay on top, with the baseline. */
export const PINS_MAX = 10;

/** Returns what the table of a project asks for in a state. */
export function runsQuery(projectId: string, { q, sort, dir, cols }: ViewState): RunsRequest {
  return { projectId, q, sortBy: sortOf(sort) ?? "created", dir, columns: cols.filter(isLookedUp) };
}

/** Returns the ids of the runs that stay on top, the baseline first. */
export const pinIdsOf = ({ base, pin }: ViewState): readonly string[] =>
  [...new Set([...(base === undefined ? [] : [base]), ...pin])].slice(0, PINS_MAX);

/** Returns which row of the list a row below the pinned ones is; `taken` are the rows of pinned runs in the list, ascending, which are not shown again. */
export function listRow(below: number, taken: readonly number[]): number {
  let row = below;
  for (const one of taken) {
    if (one > row) break;
    row += 1;
  }
  return row;
}

/** Returns the ids of the runs that are shown wherever they are in the table. */
export const pinnedAndShownIds = (state: ViewState): readonly string[] => [
  ...new Set([...pinIdsOf(state), ...state.show]),
];

/** Returns the paths that the page of a project reads before anything else, as its address says: its first rows, pinned and selected runs. */
export function neededFirst(projectId: string, query: URLSearchParams): readonly [string, ...string[]] {
  const state = stateOf(query);
  const request = runsQuery(projectId, state);
  const apart = new Set([...idsPaths(pinnedAndShownIds(state), request), ...idsPaths(state.sel, request)]);
  return [runsPath(request, 0, PAGE_ROWS), ...apart];
}

/** A run of the table with the columns that were asked for. */
export type TableRun = RunRow & {
  readonly columns?: Readonly<Record<string, unknown>>;
  /** The columns of metrics whose newest value is NaN or infinite; of other figures than the latest, those without a finite value. */
  readonly non_finite_columns?: readonly string[];
};

/** A page of the table. */
export type RunsPage = { readonly runs: readonly TableRun[]; readonly total: number };

/** The parts of a table's state that choose its runs. */
export type RunsRequest = {
  readonly projectId: string;
  readonly q: string;
  readonly sortBy: string;
  readonly dir: "asc" | "desc";
  readonly columns: readonly string[];
};

/** Returns the path that reads rows of the table from an offset. */
export function runsPath({ projectId, q, sortBy, dir, columns }: RunsRequest, offset: number, limit: number): string {
  const query = new URLSearchParams({
    project_id: projectId,
    projection: "selection",
    limit: String(limit),
    sort_by: sortBy,
    sort_dir: dir,
  });
  if (offset > 0) query.set("cursor", `offset:${offset}`);
  if (q.trim() !== "") query.set("q", q);
  if (columns.length > 0) query.set("columns", columns.join(","));
  return `/api/runs/summary?${query}`;
}

/** Runs that one search by ids finds: it may have 512 bytes. */
const IDS_TOGETHER = 10;

/** Returns the paths that read runs by their ids, wherever they are in the table, with the columns of the table. */
export function idsPaths(ids: readonly string[], request: RunsRequest): readonly string[] {
  return Array.from({ length: Math.ceil(ids.length / IDS_TOGETHER) }, (_, i) => {
    const some = ids.slice(i * IDS_TOGETHER, (i + 1) * IDS_TOGETHER);
    const q = some.map((id) => `id:${id}`).join(" OR ");
    return runsPath({ ...request, q, sortBy: "created", dir: "desc" }, 0, IDS_TOGETHER);
  });
}

/** Returns how long a run took, in milliseconds; one that has not ended counts until `now`, which is called only then, or its last sign of life. */
export function durationMs(run: TableRun, now: () => number): number {
  const end = run.finished_at ?? (run.stale ? run.last_seen_at : undefined);
  return Math.max(0, (end === undefined ? now() : Date.parse(end)) - Date.parse(run.started_at));
}
