import { useSignal, type ReadonlySignal } from "@preact/signals";
import { useEffect, useMemo, useRef } from "preact/hooks";
import type { GridColumn, GridHandle } from "../../../table/grid-types.ts";
import { Grid } from "../../../table/grid.tsx";
import type { MenuPlace } from "../../../ui/context-menu.tsx";
import type { Pages } from "../../../table/pages.ts";
import { useIsNarrow } from "../../../ui/use-width.ts";
import { isShown, type TableRun } from "../runs/shown-runs.ts";
import type { ViewState } from "../view/view-state.ts";
import { columnLabel, columnWidth, isLookedUp, NAME_WIDTH, sortOf, STATUS_WORDS_WIDTH } from "./columns.ts";
import { NameCell, ValueCell } from "./run-cells.tsx";

/** The data and actions of the table of runs. */
type RunTableProps = ColumnProps & {
  readonly pages: Pages<TableRun>;
  readonly rows: number | undefined;
  readonly rowAt: (index: number) => TableRun | undefined;
  /** Grows with each change of the pages. */
  readonly version: number;
  readonly selected: ReadonlySet<string>;
  readonly isAll: boolean;
  readonly onSort: (column: string) => void;
  readonly onResize: (column: string, width: number) => void;
  readonly onOpen: (run: TableRun) => void;
  readonly onPoint: (run: TableRun | undefined) => void;
  readonly onMenu: (run: TableRun, place: MenuPlace) => void;
  readonly handle: (handle: GridHandle) => void;
};

/** The runs of a project, and the legend of its charts. */
export function RunTable(props: RunTableProps) {
  const { state, pages, pinned, selected, isAll, rowAt, listRowOf } = props;
  const rows = props.rows ?? 12 + pinned.length;
  const isTicking = [...pinned, ...Array.from({ length: 60 }, (_, i) => pages.row(i))].some(
    (run) => run?.status === "running",
  );
  const now = useClock(isTicking);
  const listRows = useRef(listRowOf);
  listRows.current = listRowOf;
  const onWindow = useMemo(
    () =>
      ({ first, end }: { readonly first: number; readonly end: number }) =>
        pages.show({ first: listRows.current(first) ?? 0, end: (listRows.current(end - 1) ?? -1) + 1 }),
    [pages, pinned.length],
  );
  const columns = useTableColumns(props, now);
  return (
    <Grid
      label="Runs"
      columns={columns}
      rows={rows}
      rowAt={rowAt}
      idOf={(run) => run.id}
      sort={{ column: state.sort, direction: state.dir }}
      onSort={props.onSort}
      onResize={props.onResize}
      onWindow={onWindow}
      isSelected={(run) => isAll || selected.has(run.id)}
      onSelect={props.onSelect}
      onOpen={props.onOpen}
      onPoint={props.onPoint}
      onMenu={props.onMenu}
      rowClass={(run) => run.stale && "tm-row-stale"}
      handle={props.handle}
    />
  );
}

/** The time, updated every second while something on the visible page grows older. Only components that read it are drawn again. */
function useClock(isTicking: boolean): ReadonlySignal<number> {
  const now = useSignal(Date.now());
  useEffect(() => {
    if (!isTicking) return undefined;
    now.value = Date.now();
    const timer = setInterval(() => {
      if (!document.hidden) now.value = Date.now();
    }, 1000);
    return () => clearInterval(timer);
  }, [isTicking]);
  return now;
}

/** The data and actions of the columns. */
type ColumnProps = {
  readonly project: string;
  readonly state: ViewState;
  /** Pinned runs, which are listed before all others. */
  readonly pinned: readonly TableRun[];
  /** The row of the list that a row shows; undefined for those of pinned runs. */
  readonly listRowOf: (index: number) => number | undefined;
  readonly base: TableRun | undefined;
  readonly onSelect: (index: number, how: "toggle" | "range", from?: number) => void;
  readonly onToggle: (run: TableRun) => void;
  readonly onLook: (run: TableRun) => void;
};

type Acts = Pick<ColumnProps, "onSelect" | "onToggle" | "onLook" | "listRowOf">;

/**
 * The columns of the table of runs. They stay the same while their content does, because every row is drawn again with other columns:
 * the actions of a cell are looked up when they run, and the time is a signal that only cells of running runs read.
 */
function useTableColumns(props: ColumnProps, now: ReadonlySignal<number>): readonly GridColumn<TableRun>[] {
  const { project, state, pinned, base } = props;
  const acts = useRef<Acts>(props);
  acts.current = props;
  const isRange = useRef(false);
  const isNarrow = useIsNarrow();
  const { cols, widths, show, hide, pin, base: baseId, first } = state;
  const name = JSON.stringify([cols, widths, show, hide, pin, baseId, first]);
  return useMemo(() => {
    const width = (id: string, usual: number): number => widths[id] ?? usual;
    return [
      {
        id: "select",
        label: "Selected",
        width: 34,
        pinned: true,
        isFixed: true,
        head: <span class="tm-hidden">Selected</span>,
        // Not a `Checkbox`, whose label is a separate element: there is one in every row.
        cell: (run, index, isSelected) => (
          <span class="tm-check">
            <input
              type="checkbox"
              aria-label={`Select ${run.name}`}
              checked={isSelected}
              // Not prevented: the browser would take the check mark back after the row is selected.
              onClick={(event) => (isRange.current = event.shiftKey)}
              onChange={({ currentTarget }) => {
                acts.current.onSelect(index, isRange.current ? "range" : "toggle");
                // A range selects its last row, also where a click has just unchecked it.
                if (isRange.current) currentTarget.checked = true;
              }}
            />
          </span>
        ),
      },
      {
        id: "name",
        label: "Name",
        width: width("name", isNarrow ? NAME_WIDTH.narrow : NAME_WIDTH.usual),
        pinned: true,
        sortable: true,
        isRowHeader: true,
        cell: (run, index) => (
          <NameCell
            run={run}
            project={project}
            isOn={isShown(state, run.id, acts.current.listRowOf(index))}
            isPinned={index < pinned.length}
            isBase={baseId === run.id}
            onToggle={() => acts.current.onToggle(run)}
            onLook={() => acts.current.onLook(run)}
          />
        ),
      },
      ...cols.map((id): GridColumn<TableRun> => ({
        id,
        label: columnLabel(id),
        title: id,
        width: width(id, columnWidth(id)),
        align: isLookedUp(id) || id === "duration" ? "end" : "start",
        sortable: sortOf(id) !== undefined,
        cell: (run) => (
          <ValueCell
            run={run}
            name={id}
            now={now}
            base={base}
            hasWords={width(id, columnWidth(id)) >= STATUS_WORDS_WIDTH}
          />
        ),
      })),
    ];
  }, [project, name, pinned.length, base, now, isNarrow]);
}
