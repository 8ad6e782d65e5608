import { Component } from "preact";
import { classes } from "../ui/class-names.ts";
import { cellStyle, type GridColumn } from "./grid-types.ts";
import { isSame } from "./pages.ts";
import type { PlacedColumn } from "./windows.ts";

/** The content of a row. None of it is created again while a grid is scrolled. */
export type GridRowProps<Row> = {
  readonly row: Row | undefined;
  readonly index: number;
  readonly top: number;
  readonly height: number;
  readonly width: number;
  readonly pinnedWidth: number;
  readonly placed: readonly PlacedColumn<GridColumn<Row>>[];
  /** The cell that has the focus, if it is in this row. */
  readonly focusColumn: number | undefined;
  readonly isSelected: boolean | undefined;
  readonly extraClass: string | false;
};

/** One row of a grid; a skeleton while it loads. It is drawn again only when its content changes. */
export class GridRow<Row> extends Component<GridRowProps<Row>> {
  override shouldComponentUpdate(next: GridRowProps<Row>): boolean {
    return !isSame(this.props, next);
  }

  render() {
    const { row, index, top, height, width, pinnedWidth, placed, focusColumn, isSelected, extraClass } = this.props;
    const firstFree = placed.find(({ column }) => column.pinned !== true)?.index;
    return (
      <div
        role="row"
        class={classes(
          "tm-grid-row",
          isSelected === true && "tm-grid-selected",
          focusColumn !== undefined && "tm-grid-current",
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
            tabIndex={focusColumn === at ? 0 : -1}
            data-row={index}
            data-column={at}
          >
            {row === undefined ? (
              <span class="tm-skeleton tm-grid-waiting" />
            ) : (
              column.cell(row, index, isSelected === true)
            )}
          </div>
        ))}
      </div>
    );
  }
}
