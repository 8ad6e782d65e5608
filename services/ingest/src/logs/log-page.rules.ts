import { readCursor, writeCursor } from "@tidemark/values";
import { badRequest } from "@tidemark/errors";

/** The two streams of a console. */
export type LogStream = "stdout" | "stderr";

/** A stream of a run's console. */
export type LogSource = { readonly orgId: string; readonly runId: string; readonly stream: LogStream };

/** Reads a stream's name. @throws bad_request */
export function logStreamOf(name: string): LogStream {
  if (name === "stdout" || name === "stderr") return name;
  throw badRequest("stream must be stdout or stderr", "stream");
}

/** The position of a line in its stream. */
export type LogPosition = { readonly lineNumber: number; readonly id: number };

/** The position before the first line. */
export const logStart: LogPosition = { lineNumber: -1, id: -1 };

/** Writes a position as the cursor of the page that follows it. */
export function writeLogCursor(position: LogPosition): string {
  return writeCursor([position.lineNumber, position.id]);
}

/** Returns the position that a cursor names; the empty text is the start of the stream. @throws bad_request */
export function readLogCursor(cursor: string): LogPosition {
  if (cursor === "") return logStart;
  const [lineNumber, id] = readCursor(cursor, 2) ?? [];
  if (!Number.isSafeInteger(lineNumber) || !Number.isSafeInteger(id)) throw badRequest("cursor is not valid", "cursor");
  return { lineNumber: lineNumber as number, id: id as number };
}

const SCAN_PER_LINE = 20;
const SCAN_MAX = 5000;

/** Returns how many lines one search request looks at for a page of `limit` lines (console logs, search bound). */
export function scanBound(limit: number): number {
  return Math.max(limit + 1, Math.min(limit * SCAN_PER_LINE, SCAN_MAX));
}

/** A page of search results. */
export type SearchPage<Line> = {
  readonly lines: Line[];
  /** Where the next page begins; undefined at the end of the stream. */
  readonly next: LogPosition | undefined;
  /** Whether the search stopped at its bound, before the page was full and before the stream ended. */
  readonly truncated: boolean;
};

/** Returns how many lines a search reads: one more than it looks at, to know whether the stream goes on. */
export function searchLines(limit: number): number {
  return scanBound(limit) + 1;
}

/**
 * Makes a page of search results from the lines that were read.
 * @param scanned at most `searchLines(limit)` lines in order
 */
export function searchPage<Line extends LogPosition & { readonly message: string | null }>(
  scanned: readonly Line[],
  limit: number,
): SearchPage<Line & { readonly message: string }> {
  const bound = scanBound(limit);
  const lines: (Line & { readonly message: string })[] = [];
  for (const line of scanned.slice(0, bound)) {
    if (line.message === null) continue;
    lines.push(line as Line & { readonly message: string });
    // A full page always has a cursor, even if nothing follows.
    if (lines.length === limit) return { lines, next: line, truncated: false };
  }
  const truncated = scanned.length > bound;
  return { lines, next: truncated ? scanned[bound - 1] : undefined, truncated };
}
