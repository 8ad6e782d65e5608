import { plainText } from "./ansi.ts";

/** A line of a console. In a merged log, `number` is a place in the list, and `own` the stream of the line and its number there. */
export type LogLine = {
  readonly number: number;
  readonly text: string;
  readonly at: string;
  readonly own?: { readonly stream: "stdout" | "stderr"; readonly number: number };
};

/**
 * The lines of a stream, with only some windows known: window `k` covers the line numbers from `first + k * size` on, `size` of them.
 * A window that is not loaded counts as `size` rows, one that is as the rows it has: numbers may repeat, be missing, or be progress
 * bars that were written over.
 */
export type LogWindows = {
  readonly first: number;
  /** The highest line number; below `first` where there are no lines. */
  readonly last: number;
  readonly size: number;
  /** By window, the least recently used first. */
  readonly loaded: ReadonlyMap<number, readonly LogLine[]>;
  /** Windows that were read before lines arrived at their end: their lines are shown until they are read again. */
  readonly partial: ReadonlySet<number>;
};

/** Windows that are kept; the least recently used go first. */
const WINDOWS_KEPT = 40;

/** Returns the windows of a stream without any loaded lines. */
export function emptyWindows(first: number, last: number, size = 500): LogWindows {
  return { first, last, size, loaded: new Map(), partial: new Set() };
}

/** Returns how many windows there are. */
export function windowCount({ first, last, size }: LogWindows): number {
  return Math.max(0, Math.ceil((last - first + 1) / size));
}

/** Returns the numbers that a window covers: from `from` to `to`, both included. */
export function windowRange(windows: LogWindows, window: number): { readonly from: number; readonly to: number } {
  const from = windows.first + window * windows.size;
  return { from, to: Math.min(from + windows.size - 1, windows.last) };
}

/** Returns the window of a line number, the nearest one for numbers that are outside. */
export function windowOf(windows: LogWindows, number: number): number {
  const at = Math.floor((number - windows.first) / windows.size);
  return Math.min(Math.max(at, 0), Math.max(windowCount(windows) - 1, 0));
}

/** Returns how many rows a window has, or is taken to have. */
export function rowsOfWindow(windows: LogWindows, window: number): number {
  const { from, to } = windowRange(windows, window);
  const lines = windows.loaded.get(window);
  if (lines === undefined) return to - from + 1;
  const known = windows.partial.has(window) ? (lines.at(-1)?.number ?? from - 1) : to;
  return lines.length + to - known;
}

/** Whether a window must be read. */
export function isWanting({ loaded, partial }: LogWindows, window: number): boolean {
  return !loaded.has(window) || partial.has(window);
}

/** Returns the first row of each window, and behind the last one the number of all rows. */
export function rowStarts(windows: LogWindows): Float64Array {
  const count = windowCount(windows);
  const starts = new Float64Array(count + 1);
  for (let window = 0; window < count; window += 1)
    starts[window + 1] = starts[window]! + rowsOfWindow(windows, window);
  return starts;
}

/** Returns the window that holds a row. */
export function windowOfRow(starts: Float64Array, row: number): number {
  let low = 0;
  let high = Math.max(starts.length - 2, 0);
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (starts[middle]! <= row) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** Returns the row of a line number: of the first line that has it or a higher one, where its window is loaded; else where it should be. */
export function rowOfLine(windows: LogWindows, starts: Float64Array, number: number): number {
  const window = windowOf(windows, number);
  const lines = windows.loaded.get(window);
  const start = starts[window] ?? 0;
  if (lines === undefined) return start + Math.max(0, number - windowRange(windows, window).from);
  const index = lines.findIndex((line) => line.number >= number);
  return start + (index < 0 ? Math.max(lines.length - 1, 0) : index);
}

/** Takes the lines of a window in, which were read up to a number, and lets go of what was not used for long. */
export function withWindow(
  windows: LogWindows,
  window: number,
  lines: readonly LogLine[],
  readTo = Infinity,
): LogWindows {
  const loaded = new Map(windows.loaded);
  const partial = new Set(windows.partial);
  loaded.delete(window);
  loaded.set(window, lines);
  // The stream may have grown while it was read.
  if (readTo < windowRange(windows, window).to) partial.add(window);
  else partial.delete(window);
  for (const oldest of loaded.keys()) {
    if (loaded.size <= WINDOWS_KEPT) break;
    loaded.delete(oldest);
    partial.delete(oldest);
  }
  return { ...windows, loaded, partial };
}

/** Takes in that the stream has grown: the window at its end is read again, the others stay. */
export function grown(windows: LogWindows, last: number): LogWindows {
  if (last <= windows.last) return windows;
  const ending = windowOf(windows, windows.last);
  const isKnown = windowCount(windows) > 0 && windows.loaded.has(ending);
  return { ...windows, last, partial: isKnown ? new Set([...windows.partial, ending]) : windows.partial };
}

/** Takes in that lines may have arrived within the window at the end, which is read again. */
export function endUnread(windows: LogWindows): LogWindows {
  const ending = windowOf(windows, windows.last);
  return windows.loaded.has(ending) ? { ...windows, partial: new Set([...windows.partial, ending]) } : windows;
}

/** Whether a line writes over the one before it: it returns to the start of the line first. */
// oxlint-disable-next-line no-control-regex -- these are what a console sends
const writesOver = (text: string): boolean => /^(?:\u001b\[[0-9;]*[A-Za-z])*\r(?!\r*$)/.test(text);

/** A share or a count, before which a progress bar has its name. */
const AMOUNT = /^(.*?)\s*[\d.?]+\s*[%/]/;
/** What changes from one state to the next where there is no amount: digits, spinners, bars. */
const MOVING = /[\d.?|/\\\-#=>\s\u2800-\u28ff\u2588-\u258f]+/g;

/** The name of a bar stands at the beginning; a longer text would make the search for an amount slow. */
const NAME_MAX = 200;

/** Returns what all states of one progress line have in common. */
function progressName(text: string): string {
  const plain = plainText(text.slice(0, NAME_MAX));
  return AMOUNT.exec(plain)?.[1]?.trim() ?? plain.replace(MOVING, "");
}

/**
 * Leaves out the states of progress bars that a later state of the same bar wrote over, so that 1,000 updates of one bar are one row with its last state.
 * All other lines stay, because a line that a program ended cannot be written over. Numbers and order stay.
 */
export function collapseProgress<Line extends { readonly text: string }>(lines: readonly Line[]): readonly Line[] {
  const kept = lines.filter((line, i) => {
    const next = lines[i + 1];
    return next === undefined || !writesOver(next.text) || progressName(line.text) !== progressName(next.text);
  });
  return kept.length === lines.length ? lines : kept;
}
