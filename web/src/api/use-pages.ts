import { useState } from "preact/hooks";
import { query } from "./queries.ts";
import { useAnswer } from "./use-answer.ts";

/** Rows of a page. */
const PAGE_ROWS = 100;

/** A page of a list, counted from its start. */
type Page<Row> = { readonly rows: readonly Row[]; readonly total: number; readonly hasMore: boolean };

/** The beginning of a list. */
export type PagedRows<Row> = {
  /** Undefined until the first page is there. */
  readonly rows: readonly Row[] | undefined;
  /** Rows of all pages. */
  readonly total: number;
  readonly error: unknown;
  readonly isLoading: boolean;
  readonly hasMore: boolean;
  /** Reads one more page. */
  readonly more: () => void;
  readonly reload: () => void;
};

/** Reads the first pages of a list, a row once although it may have moved to the next page meanwhile. */
export async function readPages<Row extends { readonly id: string }>(
  pages: number,
  readPage: (offset: number) => Promise<Page<Row>>,
): Promise<Page<Row>> {
  const rows = new Map<string, Row>();
  let read = 0;
  let last: Page<Row> = { rows: [], total: 0, hasMore: true };
  for (let page = 0; page < pages && last.hasMore; page += 1) {
    last = await readPage(read);
    read += last.rows.length;
    for (const row of last.rows) rows.set(row.id, row);
  }
  return { rows: [...rows.values()], total: last.total, hasMore: last.hasMore && last.rows.length > 0 };
}

/** Reads a list of the API that has `limit` and `offset`, whose rows the answer has under a name. Reads it again when `version` grows; `undefined` reads nothing. */
export function usePages<Row extends { readonly id: string }>(
  path: string | undefined,
  name: string,
  version = 0,
): PagedRows<Row> {
  const [asked, setAsked] = useState({ path, pages: 1 });
  const pages = asked.path === path ? asked.pages : 1;
  const readPage = async (offset: number, signal: AbortSignal, again: boolean): Promise<Page<Row>> => {
    const from = `${path}${path!.includes("?") ? "&" : "?"}limit=${PAGE_ROWS}&offset=${offset}`;
    const answer = await query<{ total: number; has_more: boolean }>(from, { signal, again });
    return { rows: answer[name as never], total: answer.total, hasMore: answer.has_more };
  };
  const { data, error, isLoading, reload } = useAnswer(
    path,
    (signal, again) => readPages(pages, (offset) => readPage(offset, signal, again)),
    version + pages - 1,
  );
  return {
    rows: data?.rows,
    total: data?.total ?? 0,
    error,
    isLoading,
    hasMore: data?.hasMore ?? false,
    more: () => setAsked({ path, pages: pages + 1 }),
    reload,
  };
}
