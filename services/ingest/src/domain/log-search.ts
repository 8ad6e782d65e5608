import type { LogPosition } from "./log-cursor.ts";

const SCAN_PER_LINE = 20;
const SCAN_MAX = 5000;

/** How many lines one search request looks at for a page of `limit` lines (console logs, search bound). */
export function scanBound(limit: number): number {
  return Math.max(limit + 1, Math.min(limit * SCAN_PER_LINE, SCAN_MAX));
}

/** A page that a search found. */
export type SearchPage<Line> = {
  readonly lines: Line[];
  /** Where the next page begins; undefined at the end of the stream. */
  readonly next: LogPosition | undefined;
  /** The search stopped at its bound, before the page was full and before the stream ended. */
  readonly truncated: boolean;
};

/**
 * Makes the page out of the lines that were looked at.
 * @param scanned at most `scanBound(limit) + 1` lines in order; one more than the bound tells that the stream goes on
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
    // A full page always has a cursor, also when nothing may follow.
    if (lines.length === limit) return { lines, next: line, truncated: false };
  }
  const truncated = scanned.length > bound;
  return { lines, next: truncated ? scanned[bound - 1] : undefined, truncated };
}
