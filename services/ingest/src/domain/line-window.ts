import {
  comparePositions,
  countOf,
  createTextFinder,
  indexAfter,
  messageAt,
  type LogColumns,
} from "@tidemark/log-codec";
import type { LogPosition } from "./log-cursor.ts";

/** A line that a reader looked at. */
export type ScannedLine = LogPosition & {
  /** Null when it does not contain the text that is looked for. */
  readonly message: string | null;
  readonly createdUs: number;
  /** The client's time, NaN where it sent none. */
  readonly sentSeconds: number;
  readonly sentMicros: number;
};

/**
 * Lines wanted out of segments of a stream that may overlap and come one after another. It keeps the
 * wanted lines alone, so its memory does not depend on how many segments there are.
 */
export type LineWindow = {
  /** How many lines it looks at, at most. */
  readonly linesMax: number;
  add(columns: LogColumns): void;
  /** True when nothing is wanted of segments that begin at this place or later; of a tail, that end there or earlier. */
  isDoneAt(place: LogPosition): boolean;
  /** What was kept, in the order of the stream. */
  lines(): readonly ScannedLine[];
};

/** What to look for. */
export type Wanted = {
  readonly after: LogPosition;
  /** Lines to look at. */
  readonly linesMax: number;
  /** Lines that contain the text, to end with. */
  readonly matchesMax: number;
  /** Empty: every line is a match. */
  readonly text: string;
};

/** The first lines after a place, up to `linesMax`, or up to the last match that is wanted. */
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
    isDoneAt: (place) => full && comparePositions(kept.at(-1)!, place) < 0,
    lines: () => kept,
  };
}

/** The last `linesMax` lines. */
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
    isDoneAt: (place) => kept.length === linesMax && comparePositions(kept[0]!, place) > 0,
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
