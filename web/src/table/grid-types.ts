import type { ComponentChildren } from "preact";

/** Which way a column is sorted. */
type SortDirection = "asc" | "desc";

/** A column of a grid. */
export type GridColumn<Row> = {
  readonly id: string;
  readonly label: string;
  /** Details that the label leaves out. */
  readonly title?: string;
  readonly width: number;
  /** Stays at the start while others scroll. Pinned columns are first. */
  readonly pinned?: boolean;
  readonly align?: "start" | "end";
  readonly sortable?: boolean;
  /** Keeps its width. */
  readonly isFixed?: boolean;
  /** Returns the content of a cell. A row is drawn again when it, its selection or the columns change, so create new columns only for that. */
  readonly cell: (row: Row, index: number, isSelected: boolean) => ComponentChildren;
  /** Replaces the label in the header. */
  readonly head?: ComponentChildren;
  /** The content of the cell names the row. */
  readonly isRowHeader?: boolean;
};

/** A cell: a row from 0, or the header as -1, and a column. */
export type Place = { readonly row: number; readonly column: number };

/** The actions of a page on a grid. */
export type GridHandle = {
  /** The row that has the focus, or had it last. */
  readonly current: () => number;
  /** Moves the focus to a row. */
  readonly goTo: (row: number) => void;
};

/** The data and actions of a grid. */
export type GridProps<Row> = {
  readonly label: string;
  readonly columns: readonly GridColumn<Row>[];
  readonly rows: number;
  /** The row at an index; undefined while it loads. */
  readonly rowAt: (index: number) => Row | undefined;
  readonly idOf: (row: Row) => string;
  readonly rowHeight?: number;
  readonly sort?: { readonly column: string; readonly direction: SortDirection } | undefined;
  readonly onSort?: (column: string) => void;
  readonly onResize?: (column: string, width: number) => void;
  /** Called with the rows that are drawn, whenever they change. */
  readonly onWindow?: (window: { readonly first: number; readonly end: number }) => void;
  readonly isSelected?: (row: Row) => boolean;
  /** Space, or a press with Shift or Ctrl on a row. A range that has not begun begins at `from`. */
  readonly onSelect?: (index: number, how: "toggle" | "range", from?: number) => void;
  /** Enter on a row. */
  readonly onOpen?: (row: Row) => void;
  readonly onPoint?: (row: Row | undefined) => void;
  /** A press with the second button on a row, or the menu key: asks for its menu at a place of the window. */
  readonly onMenu?: (row: Row, place: { readonly left: number; readonly top: number }) => void;
  readonly rowClass?: (row: Row) => string | false;
  readonly handle?: (handle: GridHandle) => void;
};

/** Where a cell of a row is: rows are flex lines, in which pinned cells stick and the first free one keeps the place of those that are not drawn. */
export function cellStyle({
  column,
  left,
  isFirstFree,
  pinnedWidth,
}: {
  readonly column: { readonly width: number; readonly pinned?: boolean };
  readonly left: number;
  readonly isFirstFree: boolean;
  readonly pinnedWidth: number;
}): Readonly<Record<string, string>> {
  const width = { width: `${column.width}px` };
  if (column.pinned === true) return { ...width, left: `${left}px` };
  return isFirstFree ? { ...width, marginLeft: `${left - pinnedWidth}px` } : width;
}
