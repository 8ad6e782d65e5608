import { query } from "../api/queries.ts";
import { useAnswer, type Answered } from "../api/use-answer.ts";
import type { Rows } from "./classifier.ts";

/** Rows of a table that are drawn, and of a page. */
const ROWS_MAX = 5000;
const PAGE = 1000;

type Page = { readonly rows: readonly { readonly row: Readonly<Record<string, unknown>> }[] };

/** Reads the first rows of some tables, by their ids. */
export function useTableRows(objectIds: readonly number[]): Answered<ReadonlyMap<number, Rows>> {
  return useAnswer(
    objectIds.length === 0 ? undefined : objectIds.join(),
    async (signal) =>
      new Map(await Promise.all(objectIds.map(async (id) => [id, await readRows(id, signal)] as const))),
  );
}

async function readRows(id: number, signal: AbortSignal): Promise<Rows> {
  const all: Readonly<Record<string, unknown>>[] = [];
  for (let offset = 0; offset < ROWS_MAX; offset += PAGE) {
    const { rows } = await query<Page>(`/api/objects/${id}/rows?limit=${PAGE}&offset=${offset}`, { signal });
    all.push(...rows.map(({ row }) => row));
    if (rows.length < PAGE) break;
  }
  return all;
}
