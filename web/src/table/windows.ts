/** Rows from `first` up to, and without, `end`. */
export type RowWindow = { readonly first: number; readonly end: number };

/** Pixels that browsers can scroll for certain; Firefox ends at 17.8 million, and everything is lost above. */
export const SCROLL_MAX = 8_000_000;

/** The sizes that a grid needs to place its rows. */
export type Heights = { readonly rows: number; readonly rowHeight: number; readonly viewport: number };

/** Returns the height of the scrolled content: all rows, or as much as browsers can scroll. */
export function scrollHeight({ rows, rowHeight }: Pick<Heights, "rows" | "rowHeight">): number {
  return Math.min(rows * rowHeight, SCROLL_MAX);
}

/** Returns how many pixels of rows are above the viewport when the content is scrolled to `scrollTop`. */
export function rowsTop(scrollTop: number, heights: Heights): number {
  const whole = heights.rows * heights.rowHeight - heights.viewport;
  const scrolled = scrollHeight(heights) - heights.viewport;
  if (whole <= 0 || scrolled <= 0) return 0;
  const top = Math.max(0, Math.min(scrollTop, scrolled));
  return scrolled === whole ? top : (top / scrolled) * whole;
}

/** Returns where to scroll so that `top` pixels of rows are above the viewport. */
export function scrollTopOf(top: number, heights: Heights): number {
  const whole = heights.rows * heights.rowHeight - heights.viewport;
  const scrolled = scrollHeight(heights) - heights.viewport;
  if (whole <= 0 || scrolled <= 0) return 0;
  const bounded = Math.max(0, Math.min(top, whole));
  return scrolled === whole ? bounded : (bounded / whole) * scrolled;
}

/** Rows that are drawn above and below those that are seen, and the most that are drawn at all. */
const AROUND = 8;
const DRAWN_MAX = 76;

/** Returns the rows that are seen, never more than the DOM may hold. */
export function seenRows(scrollTop: number, heights: Heights): RowWindow {
  const { rows, rowHeight, viewport } = heights;
  const top = rowsTop(scrollTop, heights);
  const first = Math.floor(top / rowHeight);
  const end = Math.ceil((top + viewport) / rowHeight);
  return { first, end: Math.min(rows, end, first + DRAWN_MAX) };
}

/** Returns the rows to draw: those that are seen and some around, which scrolling shows next. */
export function withAround({ first, end }: RowWindow, rows: number): RowWindow {
  const around = Math.max(0, Math.min(AROUND, Math.floor((DRAWN_MAX - (end - first)) / 2)));
  return { first: Math.max(0, first - around), end: Math.min(rows, end + around) };
}

/** Whether two windows have a row in common. */
export const hasCommon = (one: RowWindow, other: RowWindow): boolean => one.first < other.end && other.first < one.end;

/** Returns where to scroll so that a row is seen whole; undefined where it is. `top` is covered by the header. */
export function scrollToRow(row: number, scrollTop: number, heights: Heights): number | undefined {
  const top = rowsTop(scrollTop, heights);
  const from = row * heights.rowHeight;
  if (from < top) return scrollTopOf(from, heights);
  const to = from + heights.rowHeight - heights.viewport;
  return to > top ? scrollTopOf(to, heights) : undefined;
}

/** Returns the numbers of the pages that have rows of a window. */
export function pagesOf({ first, end }: RowWindow, pageRows: number): number[] {
  if (end <= first) return [];
  const from = Math.floor(first / pageRows);
  return Array.from({ length: Math.floor((end - 1) / pageRows) - from + 1 }, (_, i) => from + i);
}

/** Where a column is, in pixels from the start of the row. */
export type PlacedColumn<Column> = { readonly column: Column; readonly left: number; readonly index: number };

/** Pixels outside the viewport within which columns are drawn. */
const BESIDE = 200;

/** Returns the columns to draw: pinned ones always, others if they are visible or nearly so. Pinned ones are first in `columns`. */
export function columnWindow<Column extends { readonly width: number; readonly pinned?: boolean }>(
  columns: readonly Column[],
  { scrollLeft, viewport }: { readonly scrollLeft: number; readonly viewport: number },
): { readonly placed: readonly PlacedColumn<Column>[]; readonly width: number } {
  let left = 0;
  const placed: PlacedColumn<Column>[] = [];
  columns.forEach((column, index) => {
    const isSeen = left + column.width > scrollLeft - BESIDE && left < scrollLeft + viewport + BESIDE;
    if (column.pinned === true || isSeen) placed.push({ column, left, index });
    left += column.width;
  });
  return { placed, width: left };
}
