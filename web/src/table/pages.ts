import { PAGE_ROWS } from "./page-rows.ts";
import { pagesOf, type RowWindow } from "./windows.ts";

/** Rows of one request. */
export type Loaded<Row> = { readonly rows: readonly Row[]; readonly total: number };

/** The source of a table's rows. */
export type Pages<Row> = {
  /** The row at an index, where its page is loaded. */
  readonly row: (index: number) => Row | undefined;
  /** The indexes of the loaded rows that are wanted, ascending. */
  readonly find: (isWanted: (row: Row) => boolean) => readonly number[];
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
  const loadedPages = new Map<number, { rows: readonly Row[]; isOld: boolean }>();
  const requests = new Map<number, AbortController>();
  let total: number | undefined;
  let fault: unknown;
  let seen: RowWindow = { first: 0, end: 1 };

  const request = (page: number): void => {
    const controller = new AbortController();
    requests.set(page, controller);
    const take = (loaded: Loaded<Row>): void => {
      if (requests.get(page) !== controller) return;
      requests.delete(page);
      fault = undefined;
      total = loaded.total;
      store(page, loaded.rows);
      onChange();
    };
    const loading = read(page * PAGE_ROWS, PAGE_ROWS, controller.signal);
    if (!(loading instanceof Promise)) {
      take(loading);
      return;
    }
    loading.then(take, (error: unknown) => {
      if (requests.get(page) !== controller) return;
      requests.delete(page);
      fault = error;
      onChange();
    });
  };
  const store = (page: number, rows: readonly Row[]): void => {
    loadedPages.delete(page);
    loadedPages.set(page, { rows, isOld: false });
    for (const [oldest] of loadedPages) {
      if (loadedPages.size <= PAGES_MAX) break;
      loadedPages.delete(oldest);
    }
  };
  const drop = (page: number): void => {
    requests.get(page)?.abort();
    requests.delete(page);
  };
  const loadSeen = (): void => {
    const wanted = pagesOf({ first: seen.first, end: Math.max(seen.end, seen.first + 1) }, PAGE_ROWS);
    for (const page of requests.keys()) if (!wanted.includes(page)) drop(page);
    for (const page of wanted) {
      const known = loadedPages.get(page);
      if (known !== undefined) {
        loadedPages.delete(page);
        loadedPages.set(page, known);
      }
      const isBehind = total !== undefined && page > 0 && page * PAGE_ROWS >= total;
      if ((known === undefined || known.isOld) && !requests.has(page) && !isBehind) request(page);
    }
  };
  return {
    row: (index) => loadedPages.get(Math.floor(index / PAGE_ROWS))?.rows[index % PAGE_ROWS],
    find: (isWanted) =>
      [...loadedPages]
        .flatMap(([page, { rows }]) => rows.flatMap((row, i) => (isWanted(row) ? [page * PAGE_ROWS + i] : [])))
        .toSorted((a, b) => a - b),
    total: () => total,
    error: () => fault,
    load: loadSeen,
    show(window) {
      seen = window;
      loadSeen();
    },
    refresh() {
      for (const page of requests.keys()) drop(page);
      const wanted = new Set(pagesOf(seen, PAGE_ROWS));
      for (const [page, value] of loadedPages) {
        if (wanted.has(page)) value.isOld = true;
        else loadedPages.delete(page);
      }
      loadSeen();
    },
    patch(isWanted, change) {
      for (const page of loadedPages.values()) {
        if (page.rows.some(isWanted)) page.rows = page.rows.map((row) => (isWanted(row) ? change(row) : row));
      }
      onChange();
    },
    end() {
      for (const page of requests.keys()) drop(page);
    },
  };
}

/** Whether two objects of one kind have the same values, each compared by `===`. */
export function isSame<T extends object>(one: T, other: T): boolean {
  const names = Object.keys(one) as (keyof T)[];
  return (
    names.length === Object.keys(other).length && names.every((name) => name in other && one[name] === other[name])
  );
}
