import { readCursor, writeCursor } from "@tidemark/values";
import { badRequest } from "@tidemark/errors";
import {
  comparePositions,
  countOf,
  createTextFinder,
  indexAfter,
  messageAt,
  type LogColumns,
} from "@tidemark/codecs/logs";

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
type SearchPage<Line> = {
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

/** A line that a reader has examined. */
export type ScannedLine = LogPosition & {
  /** Null when it does not contain the searched text. */
  readonly message: string | null;
  readonly createdUs: number;
  /** The client's time, NaN when the client sent none. */
  readonly sentSeconds: number;
  readonly sentMicros: number;
};

/**
 * Collects the wanted lines from stored parts of a stream, which may overlap and are added one after another. It keeps only the wanted
 * lines, so its memory does not depend on the number of parts.
 */
export type LineWindow = {
  /** The most lines that it looks at. */
  readonly linesMax: number;
  add(columns: LogColumns): void;
  /** Returns whether no line is wanted from parts that begin at this position or later (in a window on the last lines: that end there or earlier). */
  isDoneAt(position: LogPosition): boolean;
  /** Returns the kept lines in the order of the stream. */
  lines(): readonly ScannedLine[];
};

/** Which lines are wanted. */
export type Wanted = {
  readonly after: LogPosition;
  /** The most lines to look at. */
  readonly linesMax: number;
  /** The number of matching lines at which the page ends. */
  readonly matchesMax: number;
  /** The text that a matching line contains. Empty: every line matches. */
  readonly text: string;
};

/** Collects the first lines after a position, up to `linesMax`, or up to the last wanted match. */
export function createPageWindow({ after, linesMax, matchesMax, text }: Wanted): LineWindow {
  const finder = text === "" ? undefined : createTextFinder(text);
  let kept: ScannedLine[] = [];
  let full = false;

  const trim = (): void => {
    let matches = 0;
    for (let i = 0; i < kept.length; i++) {
      if (kept[i]!.message !== null) matches += 1;
      if (matches < matchesMax && i + 1 < linesMax) continue;
      kept.length = i + 1;
      full = true;
      return;
    }
  };

  return {
    linesMax,
    add(columns) {
      const from = indexAfter(columns, after);
      const to = Math.min(countOf(columns), from + linesMax);
      const found = finder?.find(columns, from, to);
      const fresh: ScannedLine[] = [];
      for (let i = from, matches = 0; i < to && matches < matchesMax; i++) {
        const matched = found === undefined || found[i - from] === 1;
        if (matched) matches += 1;
        const line = lineAt(columns, i, matched);
        if (full && comparePositions(kept.at(-1)!, line) < 0) break;
        fresh.push(line);
      }
      kept = merged(kept, fresh);
      trim();
    },
    isDoneAt: (position) => full && comparePositions(kept.at(-1)!, position) < 0,
    lines: () => kept,
  };
}

/** Collects the last `linesMax` lines. */
export function createTailWindow(linesMax: number): LineWindow {
  let kept: ScannedLine[] = [];
  return {
    linesMax,
    add(columns) {
      const fresh: ScannedLine[] = [];
      for (let i = Math.max(0, countOf(columns) - linesMax); i < countOf(columns); i++) {
        fresh.push(lineAt(columns, i, true));
      }
      kept = merged(kept, fresh).slice(-linesMax);
    },
    isDoneAt: (position) => kept.length === linesMax && comparePositions(kept[0]!, position) > 0,
    lines: () => kept,
  };
}

function lineAt(columns: LogColumns, index: number, withMessage: boolean): ScannedLine {
  return {
    lineNumber: columns.lineNumbers[index]!,
    id: columns.ids[index]!,
    message: withMessage ? messageAt(columns, index) : null,
    createdUs: columns.createdUs[index]!,
    sentSeconds: columns.sentSeconds[index]!,
    sentMicros: columns.sentMicros[index]!,
  };
}

function merged(a: ScannedLine[], b: ScannedLine[]): ScannedLine[] {
  if (b.length === 0) return a;
  if (a.length === 0 || comparePositions(a.at(-1)!, b[0]!) < 0) return [...a, ...b];
  const all: ScannedLine[] = [];
  let fromA = 0;
  for (const line of b) {
    while (fromA < a.length && comparePositions(a[fromA]!, line) < 0) all.push(a[fromA++]!);
    all.push(line);
  }
  while (fromA < a.length) all.push(a[fromA++]!);
  return all;
}
