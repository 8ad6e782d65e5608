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
  /** Loads the pages of the rows that are seen; before anything is known, the first one. */
  readonly load: () => void;
  /** Says which rows are seen, loads their pages, and ends the requests for others. */
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
 * `read` returns rows that are there already as they are. `onChange` is called after every change.
 */
export function createPages<Row>(
  read: (offset: number, limit: number, signal: AbortSignal) => Loaded<Row> | Promise<Loaded<Row>>,
  onChange: () => void,
): Pages<Row> {
  const kept = new Map<number, { rows: readonly Row[]; isOld: boolean }>();
  const asked = new Map<number, AbortController>();
  let total: number | undefined;
  let fault: unknown;
  let seen: RowWindow = { first: 0, end: 1 };

  const ask = (page: number): void => {
    const own = new AbortController();
    asked.set(page, own);
    const take = (loaded: Loaded<Row>): void => {
      if (asked.get(page) !== own) return;
      asked.delete(page);
      fault = undefined;
      total = loaded.total;
      keep(page, loaded.rows);
      onChange();
    };
    const loading = read(page * PAGE_ROWS, PAGE_ROWS, own.signal);
    if (!(loading instanceof Promise)) {
      take(loading);
      return;
    }
    loading.then(take, (error: unknown) => {
      if (asked.get(page) !== own) return;
      asked.delete(page);
      fault = error;
      onChange();
    });
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
  return {
    row: (index) => kept.get(Math.floor(index / PAGE_ROWS))?.rows[index % PAGE_ROWS],
    total: () => total,
    error: () => fault,
    load: loadSeen,
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
