import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import "./grid.css";
import { GridHeader } from "./grid-header.tsx";
import { GridRow } from "./grid-row.tsx";
import type { GridProps, Place } from "./grid-types.ts";
import { placeAfter } from "./selection.ts";
import { useIdle, useScroll } from "./use-scroll.ts";
import { columnWindow, rowsTop, scrollHeight, scrollToRow, seenRows, withAround } from "./windows.ts";

const touch = matchMedia("(pointer: coarse), (max-width: 640px)");

/** The height of rows, and of the header, in pixels: what a mouse or a finger can hit. */
export const usualRowHeight = (): number => (touch.matches ? 44 : 34);

/**
 * A grid of any number of rows of one height, which draws only the visible rows, and of these only the visible columns. One cell has the
 * focus; arrows, Home, End, Page Up and Page Down move it, Enter opens a row, Space selects it.
 */
export function Grid<Row>(props: GridProps<Row>) {
  const {
    label,
    columns,
    rows,
    rowAt,
    idOf,
    rowHeight = usualRowHeight(),
    sort,
    onSort,
    onResize,
    onSelect,
    onOpen,
    onPoint,
    onWindow,
  } = props;
  const place = useRef<HTMLDivElement>(null);
  const scroll = useScroll(place);
  const [focus, setFocus] = useState<Place>({ row: 0, column: 0 });
  const mustFocus = useRef(false);
  const focusedId = useRef<string | undefined>(undefined);
  const heights = { rows, rowHeight, viewport: Math.max(rowHeight, scroll.height - usualRowHeight()) };
  const isMeasured = scroll.height > 0;
  const seen = isMeasured ? seenRows(scroll.top, heights) : NO_ROWS;
  const isCalm = useIdle(seen, rowAt(seen.first) !== undefined);
  const wanted = isCalm ? withAround(seen, rows) : seen;
  const { placed, width } = useMemo(
    () => columnWindow(columns, { scrollLeft: scroll.left, viewport: scroll.width }),
    [columns, scroll.left, scroll.width],
  );
  const pinnedWidth = columns.reduce((sum, column) => sum + (column.pinned === true ? column.width : 0), 0);
  // Before the browser paints, so that rows are requested immediately.
  useLayoutEffect(() => {
    if (isMeasured) onWindow?.(wanted);
  }, [wanted.first, wanted.end, isMeasured, onWindow]);

  const cellAt = ({ row, column }: Place): HTMLElement | null =>
    place.current?.querySelector<HTMLElement>(`[data-row="${row}"][data-column="${column}"]`) ?? null;
  const goTo = (next: Place): void => {
    const element = place.current;
    if (element === null) return;
    const top = next.row < 0 ? undefined : scrollToRow(next.row, element.scrollTop, heights);
    if (top !== undefined) element.scrollTop = top;
    const column = columns[next.column];
    if (column !== undefined && column.pinned !== true) {
      const left = columns.slice(0, next.column).reduce((sum, one) => sum + one.width, 0);
      const from = element.scrollLeft + pinnedWidth;
      if (left < from) element.scrollLeft = left - pinnedWidth;
      else if (left + column.width > element.scrollLeft + element.clientWidth)
        element.scrollLeft = left + column.width - element.clientWidth;
    }
    mustFocus.current = true;
    setFocus(next);
  };
  props.handle?.({
    current: () => focus.row,
    goTo: (row) => goTo({ row: Math.max(0, Math.min(row, rows - 1)), column: focus.column }),
  });

  // Rows added or removed above it do not take the focus from its row.
  const row = focus.row < 0 ? undefined : rowAt(focus.row);
  const id = row === undefined ? undefined : idOf(row);
  useLayoutEffect(() => {
    const before = focusedId.current;
    if (before !== undefined && id !== undefined && before !== id && !mustFocus.current) {
      const moved = nearby(focus.row, (at) => {
        const other = rowAt(at);
        return other !== undefined && idOf(other) === before;
      });
      if (moved !== undefined) {
        const hadFocus = place.current?.contains(document.activeElement) === true;
        mustFocus.current = hadFocus;
        setFocus({ ...focus, row: moved });
        return;
      }
    }
    if (id !== undefined) focusedId.current = id;
  });
  useLayoutEffect(() => {
    if (!mustFocus.current) return;
    const cell = cellAt(focus);
    if (cell === null) return;
    mustFocus.current = false;
    cell.focus({ preventScroll: true });
  });

  const drawn = Array.from({ length: Math.max(0, wanted.end - wanted.first) }, (_, i) => wanted.first + i);
  // The cell with the focus stays, or the next key would go nowhere.
  if (isMeasured && focus.row >= 0 && focus.row < rows && !drawn.includes(focus.row)) drawn.push(focus.row);
  const shift = scroll.top - rowsTop(scroll.top, heights);
  const target = (event: Event): Place | undefined => {
    const cell = (event.target as Element).closest<HTMLElement>("[data-row]");
    return cell === null ? undefined : { row: Number(cell.dataset["row"]), column: Number(cell.dataset["column"]) };
  };
  const headFocus = focus.row === -1 ? focus.column : undefined;
  // The very same one is not drawn again.
  const header = useMemo(
    () => <GridHeader {...{ sort, onSort, onResize, placed, width, pinnedWidth }} focusColumn={headFocus} />,
    [sort, onSort, onResize, placed, width, pinnedWidth, headFocus],
  );
  return (
    <div
      ref={place}
      class="tm-grid"
      role="grid"
      aria-label={label}
      aria-rowcount={rows + 1}
      aria-colcount={columns.length}
      aria-multiselectable={onSelect !== undefined}
      onFocusIn={(event) => {
        const at = target(event);
        if (at !== undefined && (at.row !== focus.row || at.column !== focus.column)) {
          focusedId.current = undefined;
          setFocus(at);
        }
      }}
      onKeyDown={(event) => {
        if (event.altKey || (event.target as Element).closest("input:not([type=checkbox]), select, textarea")) return;
        const page = Math.max(1, Math.floor(heights.viewport / rowHeight) - 1);
        const next = placeAfter(event, focus, { rows, columns: columns.length, page });
        const isOnCell = (event.target as Element).hasAttribute("data-row");
        if (next !== undefined) {
          event.preventDefault();
          focusedId.current = undefined;
          if (event.shiftKey && next.row >= 0 && next.row !== focus.row) onSelect?.(next.row, "range", focus.row);
          goTo(next);
        } else if (isOnCell && focus.row >= 0 && (event.key === "Enter" || event.key === " ")) {
          event.preventDefault();
          if (event.key === " ") onSelect?.(focus.row, event.shiftKey ? "range" : "toggle");
          else if (row !== undefined) onOpen?.(row);
        }
      }}
      onClick={(event) => {
        const at = target(event);
        if (at === undefined || at.row < 0 || (event.target as Element).closest("a, button, input, label")) return;
        if (event.shiftKey) onSelect?.(at.row, "range");
        else if (event.ctrlKey || event.metaKey) onSelect?.(at.row, "toggle");
      }}
      onContextMenu={(event) => {
        const at = target(event);
        const row = at === undefined || at.row < 0 ? undefined : rowAt(at.row);
        if (row === undefined || props.onMenu === undefined) return;
        event.preventDefault();
        cellAt(at!)?.focus({ preventScroll: true });
        props.onMenu(row, { left: event.clientX, top: event.clientY });
      }}
      onPointerOver={(event) => {
        const at = target(event);
        onPoint?.(at === undefined || at.row < 0 ? undefined : rowAt(at.row));
      }}
      onPointerLeave={() => onPoint?.(undefined)}
    >
      {header}
      <div class="tm-grid-body" role="rowgroup" style={{ height: `${scrollHeight(heights)}px`, width: `${width}px` }}>
        {drawn.map((index) => {
          const shown = rowAt(index);
          return (
            <GridRow
              key={index}
              row={shown}
              index={index}
              top={index * rowHeight + shift}
              height={rowHeight}
              width={width}
              pinnedWidth={pinnedWidth}
              placed={placed}
              focusColumn={focus.row === index ? focus.column : undefined}
              isSelected={props.isSelected === undefined ? undefined : shown !== undefined && props.isSelected(shown)}
              extraClass={shown !== undefined && (props.rowClass?.(shown) ?? false)}
            />
          );
        })}
      </div>
    </div>
  );
}

const NO_ROWS = { first: 0, end: 0 };

/** Rows that are looked through for one that moved. */
const NEARBY = 200;

function nearby(from: number, isIt: (at: number) => boolean): number | undefined {
  for (let away = 1; away <= NEARBY; away += 1) {
    for (const at of [from + away, from - away]) if (at >= 0 && isIt(at)) return at;
  }
  return undefined;
}
