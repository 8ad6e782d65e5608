import { useRef } from "preact/hooks";
import { classes } from "../ui/class-names.ts";
import { Icon } from "../ui/icon.tsx";
import { cellStyle, type GridColumn, type GridProps } from "./grid-types.ts";
import { boundedWidth, WIDTH_STEP } from "./selection.ts";
import type { PlacedColumn } from "./windows.ts";

/** The header of a grid: a press sorts, the end of a column is drawn to resize it, and Alt with an arrow does the same. */
export function GridHeader<Row>({
  placed,
  width,
  pinnedWidth,
  focusColumn,
  sort,
  onSort,
  onResize,
}: Pick<GridProps<Row>, "sort" | "onSort" | "onResize"> & {
  readonly placed: readonly PlacedColumn<GridColumn<Row>>[];
  readonly width: number;
  readonly pinnedWidth: number;
  /** The cell that has the focus, if it is in the header. */
  readonly focusColumn: number | undefined;
}) {
  const firstFree = placed.find(({ column }) => column.pinned !== true)?.index;
  return (
    <div class="tm-grid-head" role="row" aria-rowindex={1} style={{ width: `${width}px` }}>
      {placed.map(({ column, left, index }) => {
        const isSorted = sort?.column === column.id;
        const isSortable = column.sortable === true && onSort !== undefined;
        return (
          <div
            key={column.id}
            role="columnheader"
            class={classes(
              "tm-grid-cell tm-grid-headcell",
              column.pinned === true && "tm-grid-pinned",
              column.align === "end" && "tm-grid-end",
              isSortable && "tm-grid-sortable",
            )}
            style={cellStyle({ column, left, isFirstFree: index === firstFree, pinnedWidth })}
            aria-colindex={index + 1}
            aria-sort={isSorted ? (sort.direction === "asc" ? "ascending" : "descending") : undefined}
            tabIndex={focusColumn === index ? 0 : -1}
            data-row={-1}
            data-column={index}
            title={column.title ?? column.label}
            onClick={(event) => {
              if (isSortable && !(event.target as Element).closest(".tm-grid-grip, button, input, label"))
                onSort(column.id);
            }}
            onKeyDown={(event) => {
              const isArrow = event.key === "ArrowLeft" || event.key === "ArrowRight";
              if (event.altKey && isArrow && column.isFixed !== true) {
                event.preventDefault();
                event.stopPropagation();
                onResize?.(
                  column.id,
                  boundedWidth(column.width + (event.key === "ArrowRight" ? WIDTH_STEP : -WIDTH_STEP)),
                );
              } else if (event.target === event.currentTarget && (event.key === "Enter" || event.key === " ")) {
                event.preventDefault();
                event.stopPropagation();
                if (isSortable) onSort(column.id);
                else event.currentTarget.querySelector<HTMLElement>("button, input")?.click();
              }
            }}
          >
            {column.head ?? <span class="tm-grid-label">{column.label}</span>}
            {isSorted && <Icon name={sort.direction === "asc" ? "arrow-up" : "arrow-down"} size={12} />}
            {column.isFixed !== true && onResize !== undefined && (
              <Grip width={column.width} onResize={(next) => onResize(column.id, next)} />
            )}
          </div>
        );
      })}
    </div>
  );
}

function Grip({ width, onResize }: { readonly width: number; readonly onResize: (width: number) => void }) {
  const start = useRef<{ x: number; width: number } | undefined>(undefined);
  return (
    <span
      class="tm-grid-grip"
      aria-hidden="true"
      onPointerDown={(event) => {
        event.preventDefault();
        event.currentTarget.setPointerCapture(event.pointerId);
        start.current = { x: event.clientX, width };
      }}
      onPointerMove={(event) => {
        if (start.current !== undefined) onResize(boundedWidth(start.current.width + event.clientX - start.current.x));
      }}
      onPointerUp={() => {
        start.current = undefined;
      }}
    />
  );
}
