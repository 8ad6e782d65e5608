import { classes } from "../ui/class-names.ts";
import { cellStyle } from "./cell-style.ts";
import type { GridColumn, Place } from "./grid-types.ts";
import type { PlacedColumn } from "./windows.ts";

/** One row of a grid; a skeleton while it loads. */
export function GridRow<Row>({
  row,
  index,
  top,
  height,
  width,
  pinnedWidth,
  placed,
  focus,
  isSelected,
  extraClass,
}: {
  readonly row: Row | undefined;
  readonly index: number;
  readonly top: number;
  readonly height: number;
  readonly width: number;
  readonly pinnedWidth: number;
  readonly placed: readonly PlacedColumn<GridColumn<Row>>[];
  readonly focus: Place;
  readonly isSelected: boolean | undefined;
  readonly extraClass: string | false;
}) {
  const firstFree = placed.find(({ column }) => column.pinned !== true)?.index;
  return (
    <div
      role="row"
      class={classes(
        "tm-grid-row",
        isSelected === true && "tm-grid-selected",
        focus.row === index && "tm-grid-current",
        extraClass,
      )}
      aria-rowindex={index + 2}
      aria-selected={isSelected}
      aria-busy={row === undefined || undefined}
      data-index={index}
      style={{ transform: `translateY(${top}px)`, height: `${height}px`, width: `${width}px` }}
    >
      {placed.map(({ column, left, index: at }) => (
        <div
          key={column.id}
          role={column.isRowHeader === true ? "rowheader" : "gridcell"}
          class={classes(
            "tm-grid-cell",
            column.pinned === true && "tm-grid-pinned",
            column.align === "end" && "tm-grid-end",
          )}
          style={cellStyle({ column, left, isFirstFree: at === firstFree, pinnedWidth })}
          aria-colindex={at + 1}
          tabIndex={focus.row === index && focus.column === at ? 0 : -1}
          data-row={index}
          data-column={at}
        >
          {row === undefined ? <span class="tm-skeleton tm-grid-waiting" /> : column.cell(row, index)}
        </div>
      ))}
    </div>
  );
}
