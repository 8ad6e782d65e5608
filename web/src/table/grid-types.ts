import type { ComponentChildren } from "preact";

/** Which way a column is sorted. */
export type SortDirection = "asc" | "desc";

/** A column of a grid. */
export type GridColumn<Row> = {
  readonly id: string;
  readonly label: string;
  /** What the label leaves out. */
  readonly title?: string;
  readonly width: number;
  /** Stays at the start while others scroll. Pinned columns come first. */
  readonly pinned?: boolean;
  readonly align?: "start" | "end";
  readonly sortable?: boolean;
  /** Keeps its width. */
  readonly isFixed?: boolean;
  /** What a cell shows. A row is drawn again when it, its selection or the columns are others, so columns are made anew only for that. */
  readonly cell: (row: Row, index: number, isSelected: boolean) => ComponentChildren;
  /** Stands in the header instead of the label. */
  readonly head?: ComponentChildren;
  /** What the cell shows names the row. */
  readonly isRowHeader?: boolean;
};

/** A cell: a row from 0, or the header as -1, and a column. */
export type Place = { readonly row: number; readonly column: number };

/** What a page does with a grid. */
export type GridHandle = {
  /** The row that has the focus, or had it last. */
  readonly current: () => number;
  /** Moves the focus to a row. */
  readonly goTo: (row: number) => void;
};

/** What a grid shows and does. */
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
  readonly rowClass?: (row: Row) => string | false;
  readonly handle?: (handle: GridHandle) => void;
};
