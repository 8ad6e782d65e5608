import { badRequest } from "@tidemark/errors";
import { TRACE_SORTS, TRACES_SORTED_MAX } from "@tidemark/limits";
import { readCursor, writeCursor } from "@tidemark/values";
import type { TracePosition, TraceRow } from "./trace-rows.sql.ts";

/** A figure by which a list is sorted. */
export type TraceSort = Exclude<(typeof TRACE_SORTS)[number], "started">;

/** Rows that are read at a time: their summaries may have 16 KiB each. */
const STEP_ROWS = 1000;

/** Reads what a list is sorted by; undefined: the start. @throws bad_request */
export function readSort(text: string): TraceSort | undefined {
  if (text === "" || text === "started") return undefined;
  const found = TRACE_SORTS.find((one) => one === text);
  if (found === undefined || found === "started") {
    throw badRequest(`sort must be one of ${TRACE_SORTS.join(", ")}`, "sort");
  }
  return found;
}

/** A page of a sorted list, and among how many of the newest traces it was found. */
type SortedPage = { readonly rows: readonly TraceRow[]; readonly nextCursor: string; readonly count: number };

/**
 * Returns a page of traces with the highest figures first, among the newest 10,000 that pass. `read` returns the next rows by start behind a
 * position. Traces without the figure are last. @throws bad_request for a wrong cursor
 */
export async function sortedPage(
  sort: TraceSort,
  { cursor, limit }: { readonly cursor: string; readonly limit: number },
  read: (after: TracePosition | undefined, rowsMax: number) => Promise<readonly TraceRow[]>,
): Promise<SortedPage> {
  const offset = readOffset(cursor);
  const wanted = offset + limit;
  let kept: readonly TraceRow[] = [];
  let count = 0;
  for (let after: TracePosition | undefined; count < TRACES_SORTED_MAX;) {
    const rows = await read(after, STEP_ROWS);
    count += rows.length;
    // Sorting is stable: of equal figures the newest is first.
    kept = [...kept, ...rows].toSorted((a, b) => figureOf(b, sort) - figureOf(a, sort)).slice(0, wanted + 1);
    if (rows.length < STEP_ROWS) break;
    after = rows.at(-1);
  }
  const nextCursor = kept.length > wanted ? writeCursor(["sorted", wanted]) : "";
  return { rows: kept.slice(offset, wanted), nextCursor, count };
}

/** Below all figures. */
const NONE = -1;

function figureOf({ summary, startedUs }: TraceRow, sort: TraceSort): number {
  const { endedUs, inputTokens, outputTokens, costUsd } = summary;
  const figure = { duration: endedUs - startedUs, tokens: inputTokens + outputTokens, cost: costUsd }[sort];
  return Number.isNaN(figure) ? NONE : Math.max(0, figure);
}

function readOffset(cursor: string): number {
  if (cursor === "") return 0;
  const [word, offset] = readCursor(cursor, 2) ?? [];
  if (
    word === "sorted" &&
    Number.isInteger(offset) &&
    (offset as number) >= 0 &&
    (offset as number) <= TRACES_SORTED_MAX
  )
    return offset as number;
  throw badRequest("cursor is not a cursor of this list", "cursor");
}
