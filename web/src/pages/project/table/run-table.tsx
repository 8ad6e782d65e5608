import { useSignal, type ReadonlySignal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import type { GridHandle } from "../../../table/grid-types.ts";
import { Grid } from "../../../table/grid.tsx";
import type { Pages } from "../../../table/pages.ts";
import type { TableRun } from "../runs/shown-runs.ts";
import { useTableColumns, type ColumnProps } from "./use-table-columns.tsx";

/** The data and actions of the table of runs. */
export type RunTableProps = ColumnProps & {
  readonly pages: Pages<TableRun>;
  /** Grows with each change of the pages. */
  readonly version: number;
  readonly selected: ReadonlySet<string>;
  readonly onSort: (column: string) => void;
  readonly onResize: (column: string, width: number) => void;
  readonly onOpen: (run: TableRun) => void;
  readonly onPoint: (run: TableRun | undefined) => void;
  readonly handle: (handle: GridHandle) => void;
};

/** The runs of a project, and the legend of its charts. */
export function RunTable(props: RunTableProps) {
  const { state, pages, pinned, selected } = props;
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
      isSelected={(run) => selected.has(run.id)}
      onSelect={props.onSelect}
      onOpen={props.onOpen}
      onPoint={props.onPoint}
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
