/** The tallest that browsers lay out without trouble, in pixels; longer lists scroll faster than they move. */
const HEIGHT_MAX = 12_000_000;

/** How a list of rows of one height is laid out in a box that scrolls. */
export type Layout = {
  /** Height of what scrolls, in pixels. */
  readonly height: number;
  /** Pixels of the list for each that is scrolled. */
  readonly scale: number;
};

/** Lays `rows` rows out in a box of `view` pixels. */
export function layoutOf(rows: number, rowHeight: number, view: number): Layout {
  const full = rows * rowHeight;
  const height = Math.min(full, HEIGHT_MAX);
  return { height, scale: height > view ? (full - view) / (height - view) : 1 };
}

/** The rows to draw, and where the first of them is, in pixels from the top of what scrolls. */
export type Slice = { readonly first: number; readonly end: number; readonly top: number };

/** Rows that are drawn beyond each edge of the box. */
const BEYOND = 8;

/** Returns the rows to draw where a box is scrolled to. */
export function sliceOf(rows: number, rowHeight: number, view: number, scrollTop: number): Slice {
  const { scale } = layoutOf(rows, rowHeight, view);
  const at = Math.max(0, scrollTop) * scale;
  const count = Math.ceil(view / rowHeight) + 2 * BEYOND;
  const first = Math.max(0, Math.min(Math.floor(at / rowHeight) - BEYOND, rows - count));
  return { first, end: Math.min(rows, first + count), top: scrollTop - (at - first * rowHeight) };
}

/** Returns where to scroll so that a row is at the top of the box. */
export function scrollTo(rows: number, rowHeight: number, view: number, row: number): number {
  const { height, scale } = layoutOf(rows, rowHeight, view);
  return Math.min(Math.max(0, (row * rowHeight) / scale), Math.max(0, height - view));
}
