import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { ApiError } from "../../../api/client.ts";
import { currentLocation } from "../../../app/location.tsx";
import { chartRun, type ChartRun } from "../../../charts/index.ts";
import type { Pages } from "../../../table/pages.ts";
import { NOTHING, selectRange, toggleRow, type Selection } from "../../../table/selection.ts";
import type { BulkRun } from "../bulk/bulk.ts";
import type { View } from "../view/use-view.ts";
import { stateOf } from "../view/view-state.ts";
import {
  isShown,
  LINES_MAX,
  listRow,
  pinIdsOf,
  pinnedAndShownIds,
  runsQuery,
  withShown,
  type TableRun,
} from "./shown-runs.ts";
import { RUNS_DRAWN_MAX, useRunColumns, useRuns, useRunsById } from "./use-runs.ts";

/** Rows in which selected runs are looked for before those that were kept. */
const NEAR_ROWS = 200;

/** The runs of a project in the order of its table. */
export type ProjectRuns = RunSelection & {
  readonly pages: Pages<TableRun>;
  /** Grows with every change of the rows. */
  readonly version: number;
  /** How many runs the search finds; undefined until that is known. */
  readonly total: number | undefined;
  readonly error: unknown;
  /** The error is about the text of the search. */
  readonly isSearchFault: boolean;
  /** Runs that stay on top. */
  readonly pinned: readonly TableRun[];
  /** The run with which others are compared. */
  readonly base: TableRun | undefined;
  /** Rows of the table, pinned runs included; undefined until that is known. */
  readonly rows: number | undefined;
  /** The run in a row of the table, pinned ones first. */
  readonly rowAt: (index: number) => TableRun | undefined;
  /** The row of the list that a row of the table shows; undefined for those of pinned runs. */
  readonly listRowOf: (index: number) => number | undefined;
  /** The selected runs whose data is known. */
  readonly selectedRuns: readonly BulkRun[];
  /** The runs whose lines are shown; of grouped charts all that the search finds, as many as the API groups, without hidden ones. Undefined while these are read. */
  readonly chartRuns: readonly ChartRun[] | undefined;
  /** The runs that groups leave out because there are too many. */
  readonly ungrouped: number;
  /** Shows or hides the lines of a run. */
  readonly toggleShown: (run: TableRun) => void;
};

/** Reads the runs that the page of a project shows in a state, and follows their changes. */
export function useProjectRuns(projectId: string, { state, group, change }: View): ProjectRuns {
  const request = runsQuery(projectId, state);
  const { pages, version } = useRuns(request);
  const apart = pinnedAndShownIds(state);
  const byId = useRunsById(apart, request, version);
  const pinned = pinIdsOf(state).flatMap((id) => byId.get(id) ?? []);
  const pinnedName = pinned.map(({ id }) => id).join();
  const taken = useMemo(
    () => (pinnedName === "" ? [] : pages.find(({ id }) => pinnedName.includes(id))),
    [pages, version, pinnedName],
  );
  const listRowOf = (index: number): number | undefined =>
    index < pinned.length ? undefined : listRow(index - pinned.length, taken);
  const rowAt = (index: number): TableRun | undefined => pinned[index] ?? pages.row(listRowOf(index)!);
  const total = pages.total();
  const selection = useSelection(state.sel, rowAt, (sel) => change({ sel }, { replace: true }));
  // All that one search finds are not all that another finds.
  useEffect(() => selection.setAll(false), [state.q]);
  // Runs that a copied address selects may be in rows that were never shown.
  const inAddress = useMemo(() => state.sel, []);
  const copied = useRunsById(inAddress, request, version);
  const near = new Map(
    Array.from({ length: NEAR_ROWS }, (_, i) => rowAt(i)).flatMap((run) => (run ? [[run.id, run]] : [])),
  );

  const indexOf = (run: TableRun): number | undefined => {
    for (let i = 0; i < state.first; i += 1) if (pages.row(i)?.id === run.id) return i;
    return undefined;
  };
  const isOn = (run: TableRun): boolean => isShown(state, run.id, indexOf(run));
  const first = Array.from({ length: state.first }, (_, i) => pages.row(i)).flatMap((run) => run ?? []);
  const others = apart.flatMap((id) => byId.get(id) ?? []);
  const lines = [...new Map([...others, ...first].filter(isOn).map((run) => [run.id, run])).values()].slice(
    0,
    LINES_MAX,
  );
  const linesName = lines.map(({ id, name, status }) => `${id} ${name} ${status}`).join("\n");
  const inGroups = useRunColumns(projectId, state.q, [], version, group !== undefined);
  const groupRuns = useMemo(
    () => inGroups.runs?.filter(({ id }) => !state.hide.includes(id)).map(chartRun),
    [inGroups.runs, state.hide.join()],
  );
  const lineRuns = useMemo(() => lines.map(chartRun), [linesName]);
  const error = pages.error() ?? (group === undefined ? undefined : inGroups.error);
  return {
    ...selection,
    pages,
    version,
    total,
    rows: total === undefined ? undefined : total + pinned.length - taken.length,
    error,
    isSearchFault: error instanceof ApiError && error.code?.startsWith("run_search") === true,
    pinned,
    base: state.base === undefined ? undefined : byId.get(state.base),
    rowAt,
    listRowOf,
    selectedRuns: [...selection.selected].flatMap(
      (id) => near.get(id) ?? copied.get(id) ?? selection.known.get(id) ?? [],
    ),
    chartRuns: group === undefined ? lineRuns : groupRuns,
    ungrouped: group === undefined ? 0 : Math.max(0, inGroups.total - RUNS_DRAWN_MAX),
    toggleShown: (run) =>
      change(withShown(stateOf(currentLocation.peek().query), [run.id], !isOn(run)), { replace: true }),
  };
}

/** The selected runs of the table. */
type RunSelection = {
  readonly selected: ReadonlySet<string>;
  /** Whether all runs are selected that the search finds. */
  readonly isAll: boolean;
  readonly setAll: (isAll: boolean) => void;
  /** Those that were selected here, by their ids. */
  readonly known: ReadonlyMap<string, BulkRun>;
  readonly select: (index: number, how: "toggle" | "range", from?: number) => void;
  /** Selects these runs in place of all others. */
  readonly choose: (runs: readonly BulkRun[]) => void;
  readonly clear: () => void;
};

/** Selects runs in the table; the data of each is kept, because its page may be dropped. */
function useSelection(
  ids: readonly string[],
  rowAt: (index: number) => TableRun | undefined,
  onChange: (ids: readonly string[]) => void,
): RunSelection {
  const [selection, setSelection] = useState<Selection>({ ids: new Set(ids), anchor: undefined });
  const [isAll, setAll] = useState(false);
  const known = useRef(new Map<string, BulkRun>());
  const set = (next: Selection): void => {
    setSelection(next);
    onChange([...next.ids]);
  };
  return {
    selected: selection.ids,
    isAll,
    setAll,
    known: known.current,
    select(index, how, from = index) {
      const note = (at: number): string | undefined => {
        const run = rowAt(at);
        if (run !== undefined) known.current.set(run.id, run);
        return run?.id;
      };
      const id = note(index);
      if (id === undefined) return;
      if (isAll) {
        // One of all: the others that the user has seen stay.
        setAll(false);
        const seen = Array.from({ length: NEAR_ROWS }, (_, at) => note(at)).flatMap((one) => one ?? []);
        set({ ids: new Set(seen.filter((one) => one !== id)), anchor: index });
        return;
      }
      const { ids: chosen, anchor = Math.max(0, from) } = selection;
      set(how === "range" ? selectRange({ ids: chosen, anchor }, index, note) : toggleRow(selection, index, id));
    },
    choose(runs) {
      setAll(false);
      for (const run of runs) known.current.set(run.id, run);
      set({ ids: new Set(runs.map(({ id }) => id)), anchor: undefined });
    },
    clear() {
      setAll(false);
      set(NOTHING);
    },
  };
}
