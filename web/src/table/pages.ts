import { PAGE_ROWS } from "./page-rows.ts";
import { pagesOf, type RowWindow } from "./windows.ts";

/** Rows of one request. */
export type Loaded<Row> = { readonly rows: readonly Row[]; readonly total: number };

/** The source of a table's rows. */
export type Pages<Row> = {
  /** The row at an index, where its page is loaded. */
  readonly row: (index: number) => Row | undefined;
  /** How many rows there are; undefined until the first page is there. */
  readonly total: () => number | undefined;
  /** The error of the last page that could not be loaded. */
  readonly error: () => unknown;
  /** Loads the pages of the rows that are seen, and ends the requests for others. */
  readonly show: (window: RowWindow) => void;
  /** Loads the pages that are seen again, and forgets the others; rows that were there stay until then. */
  readonly refresh: () => void;
  /** Puts other values into a row that is loaded. */
  readonly patch: (isWanted: (row: Row) => boolean, change: (row: Row) => Row) => void;
  /** Ends all requests. */
  readonly end: () => void;
};

/** Pages that are kept: 2,000 rows. */
export const PAGES_MAX = 20;

/**
 * Loads the rows of a long list page by page where they are seen. At most `PAGES_MAX` pages are kept, the least recently seen go first.
 * `onChange` is called after every change. `first` is the first page, where it is there already.
 */
export function createPages<Row>(
  load: (offset: number, limit: number, signal: AbortSignal) => Promise<Loaded<Row>>,
  onChange: () => void,
  first?: Loaded<Row>,
): Pages<Row> {
  const kept = new Map<number, { rows: readonly Row[]; isOld: boolean }>();
  const asked = new Map<number, AbortController>();
  let total: number | undefined;
  let fault: unknown;
  let seen: RowWindow = { first: 0, end: 1 };

  const ask = (page: number): void => {
    const own = new AbortController();
    asked.set(page, own);
    load(page * PAGE_ROWS, PAGE_ROWS, own.signal).then(
      (loaded) => {
        if (asked.get(page) !== own) return;
        asked.delete(page);
        fault = undefined;
        total = loaded.total;
        keep(page, loaded.rows);
        onChange();
      },
      (error: unknown) => {
        if (asked.get(page) !== own) return;
        asked.delete(page);
        fault = error;
        onChange();
      },
    );
  };
  const keep = (page: number, rows: readonly Row[]): void => {
    kept.delete(page);
    kept.set(page, { rows, isOld: false });
    for (const [oldest] of kept) {
      if (kept.size <= PAGES_MAX) break;
      kept.delete(oldest);
    }
  };
  const drop = (page: number): void => {
    asked.get(page)?.abort();
    asked.delete(page);
  };
  const loadSeen = (): void => {
    const wanted = pagesOf({ first: seen.first, end: Math.max(seen.end, seen.first + 1) }, PAGE_ROWS);
    for (const page of asked.keys()) if (!wanted.includes(page)) drop(page);
    for (const page of wanted) {
      const there = kept.get(page);
      if (there !== undefined) {
        kept.delete(page);
        kept.set(page, there);
      }
      const isBehind = total !== undefined && page > 0 && page * PAGE_ROWS >= total;
      if ((there === undefined || there.isOld) && !asked.has(page) && !isBehind) ask(page);
    }
  };
  if (first !== undefined) {
    total = first.total;
    keep(0, first.rows);
  }
  return {
    row: (index) => kept.get(Math.floor(index / PAGE_ROWS))?.rows[index % PAGE_ROWS],
    total: () => total,
    error: () => fault,
    show(window) {
      seen = window;
      loadSeen();
    },
    refresh() {
      for (const page of asked.keys()) drop(page);
      const wanted = new Set(pagesOf(seen, PAGE_ROWS));
      for (const [page, value] of kept) {
        if (wanted.has(page)) value.isOld = true;
        else kept.delete(page);
      }
      loadSeen();
    },
    patch(isWanted, change) {
      for (const page of kept.values()) {
        if (page.rows.some(isWanted)) page.rows = page.rows.map((row) => (isWanted(row) ? change(row) : row));
      }
      onChange();
    },
    end() {
      for (const page of asked.keys()) drop(page);
    },
  };
}
