import type { Place } from "./grid-types.ts";

/** The bounds of moves in a grid. */
type Bounds = { readonly rows: number; readonly columns: number; readonly page: number };

type Pressed = { readonly key: string; readonly ctrlKey: boolean; readonly metaKey: boolean };

/** Returns the cell that a key leads to, as grids of ARIA do; undefined for other keys. The header is row -1. */
export function placeAfter(
  { key, ctrlKey, metaKey }: Pressed,
  { row, column }: Place,
  bounds: Bounds,
): Place | undefined {
  const isFar = ctrlKey || metaKey;
  const to = (nextRow: number, nextColumn: number): Place => ({
    row: Math.max(-1, Math.min(nextRow, bounds.rows - 1)),
    column: Math.max(0, Math.min(nextColumn, bounds.columns - 1)),
  });
  const lastColumn = bounds.columns - 1;
  switch (key) {
    case "ArrowDown":
      return to(row + 1, column);
    case "ArrowUp":
      return to(row - 1, column);
    case "ArrowRight":
      return to(row, column + 1);
    case "ArrowLeft":
      return to(row, column - 1);
    case "PageDown":
      return to(row + bounds.page, column);
    case "PageUp":
      return to(Math.max(0, row - bounds.page), column);
    case "Home":
      return isFar ? to(0, 0) : to(row, 0);
    case "End":
      return isFar ? to(bounds.rows - 1, lastColumn) : to(row, lastColumn);
    default:
      return undefined;
  }
}

/** Widths of columns in pixels, and the step of the keyboard. */
const WIDTH_MIN = 56;
const WIDTH_MAX = 720;
export const WIDTH_STEP = 16;

/** Returns a width within what columns may have. */
export const boundedWidth = (width: number): number => Math.round(Math.max(WIDTH_MIN, Math.min(WIDTH_MAX, width)));

/** The selected rows, by their ids, and where a range continues from. */
export type Selection = { readonly ids: ReadonlySet<string>; readonly anchor: number | undefined };

/** Nothing is chosen. */
export const NOTHING: Selection = { ids: new Set(), anchor: undefined };

/** Selects or deselects a row; a range continues from it. */
export function toggleRow({ ids }: Selection, index: number, id: string): Selection {
  const next = new Set(ids);
  if (!next.delete(id)) next.add(id);
  return { ids: next, anchor: index };
}

/** Selects all rows from the anchor to a row, in either direction. Rows that are not loaded are left out: the user has not seen them. */
export function selectRange(
  { ids, anchor }: Selection,
  index: number,
  idOf: (index: number) => string | undefined,
): Selection {
  const from = anchor ?? index;
  const next = new Set(ids);
  for (let i = Math.min(from, index); i <= Math.max(from, index); i += 1) {
    const id = idOf(i);
    if (id !== undefined) next.add(id);
  }
  return { ids: next, anchor: from };
}
