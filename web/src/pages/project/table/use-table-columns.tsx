import type { ReadonlySignal } from "@preact/signals";
import { useMemo, useRef } from "preact/hooks";
import type { GridColumn } from "../../../table/grid-types.ts";
import { isShown, type TableRun } from "../runs/shown-runs.ts";
import type { ViewState } from "../view/view-state.ts";
import { columnLabel, columnWidth, isLookedUp, sortOf } from "./columns.ts";
import { NameCell, ValueCell } from "./run-cells.tsx";

/** The data and actions of the columns. */
export type ColumnProps = {
  readonly project: string;
  readonly state: ViewState;
  /** Pinned runs, which are listed before all others. */
  readonly pinned: readonly TableRun[];
  readonly base: TableRun | undefined;
  readonly onSelect: (index: number, how: "toggle" | "range", from?: number) => void;
  readonly onToggle: (run: TableRun) => void;
  readonly onLook: (run: TableRun) => void;
};

type Acts = Pick<ColumnProps, "onSelect" | "onToggle" | "onLook">;

/**
 * The columns of the table of runs. They stay the same while their content does, because every row is drawn again with other columns:
 * the actions of a cell are looked up when they run, and the time is a signal that only cells of running runs read.
 */
export function useTableColumns(props: ColumnProps, now: ReadonlySignal<number>): readonly GridColumn<TableRun>[] {
  const { project, state, pinned, base } = props;
  const acts = useRef<Acts>(props);
  acts.current = props;
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
              onClick={(event) => event.shiftKey && (event.preventDefault(), acts.current.onSelect(index, "range"))}
              onChange={() => acts.current.onSelect(index, "toggle")}
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
        cell: (run) => <ValueCell run={run} name={id} now={now} base={base} />,
      })),
    ];
  }, [project, name, pinned.length, base, now]);
}
