import { useMemo } from "preact/hooks";
import { Grid } from "../../table/grid.tsx";
import type { GridColumn, GridHandle } from "../../table/grid-types.ts";
import type { Pages } from "../../table/pages.ts";
import { Checkbox } from "../../ui/checkbox.tsx";
import { columnLabel, columnWidth, isLookedUp, sortOf } from "./columns.ts";
import { NameCell, ValueCell } from "./run-cells.tsx";
import type { TableRun } from "./run-row.ts";
import { isShown } from "./shown-runs.ts";
import { useClock } from "./use-clock.ts";
import type { ViewState } from "./view-state.ts";

/** What the table of runs shows and does. */
export type RunTableProps = {
  readonly project: string;
  readonly state: ViewState;
  readonly pages: Pages<TableRun>;
  /** Grows with each change of the pages. */
  readonly version: number;
  /** Pinned runs, which come before all others. */
  readonly pinned: readonly TableRun[];
  readonly base: TableRun | undefined;
  readonly selected: ReadonlySet<string>;
  readonly onSelect: (index: number, how: "toggle" | "range", from?: number) => void;
  readonly onSort: (column: string) => void;
  readonly onResize: (column: string, width: number) => void;
  readonly onToggle: (run: TableRun) => void;
  readonly onLook: (run: TableRun) => void;
  readonly onOpen: (run: TableRun) => void;
  readonly onPoint: (run: TableRun | undefined) => void;
  readonly handle: (handle: GridHandle) => void;
};

/** The runs of a project, and the legend of its charts. */
export function RunTable(props: RunTableProps) {
  const { project, state, pages, pinned, base, selected, onSelect, onToggle, onLook } = props;
  const rows = (pages.total() ?? 12) + pinned.length;
  const rowAt = (index: number): TableRun | undefined =>
    index < pinned.length ? pinned[index] : pages.row(index - pinned.length);
  const isTicking = [...pinned, ...Array.from({ length: 60 }, (_, i) => pages.row(i))].some(
    (run) => run?.status === "running",
  );
  const now = useClock(isTicking);
  const onWindow = useMemo(
    () =>
      ({ first, end }: { readonly first: number; readonly end: number }) =>
        pages.show({ first: Math.max(0, first - pinned.length), end: Math.max(0, end - pinned.length) }),
    [pages, pinned.length],
  );
  const width = (id: string, usual: number): number => state.widths[id] ?? usual;
  const columns: GridColumn<TableRun>[] = [
    {
      id: "select",
      label: "Selected",
      width: 34,
      pinned: true,
      isFixed: true,
      head: <span class="tm-hidden">Selected</span>,
      cell: (run, index) => (
        <span onClick={(event) => event.shiftKey && (event.preventDefault(), onSelect(index, "range"))}>
          <Checkbox
            label={`Select ${run.name}`}
            hideLabel
            checked={selected.has(run.id)}
            onChange={() => onSelect(index, "toggle")}
          />
        </span>
      ),
    },
    {
      id: "name",
      label: "Name",
      width: width("name", 240),
      pinned: true,
      sortable: true,
      isRowHeader: true,
      cell: (run, index) => (
        <NameCell
          run={run}
          project={project}
          isOn={isShown(state, run.id, index < pinned.length ? undefined : index - pinned.length)}
          isPinned={index < pinned.length}
          isBase={state.base === run.id}
          onToggle={() => onToggle(run)}
          onLook={() => onLook(run)}
        />
      ),
    },
    ...state.cols.map((name): GridColumn<TableRun> => ({
      id: name,
      label: columnLabel(name),
      title: name,
      width: width(name, columnWidth(name)),
      align: isLookedUp(name) || name === "duration" ? "end" : "start",
      sortable: sortOf(name) !== undefined,
      cell: (run) => <ValueCell run={run} name={name} now={now} base={base} />,
    })),
  ];
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
      isSelected={(run) => selected.has(run.id)}
      onSelect={onSelect}
      onOpen={props.onOpen}
      onPoint={props.onPoint}
      rowClass={(run) => run.stale && "tm-row-stale"}
      handle={props.handle}
    />
  );
}
