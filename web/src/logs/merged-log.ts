import type { LogSource, LogStream } from "./log-source.ts";
import type { LogLine } from "./log-windows.ts";

/** Lines of the shorter stream that are shown between two windows of the longer one: a burst of them would make the list jump. */
const BETWEEN_MAX = 2000;
/** A stream that has become this many times as long as the other takes over the numbers of the list. */
const LONGER = 4;

type Ends = { readonly first: number; readonly last: number };

/**
 * Merges the streams of a console by time. The longer stream gives the list its numbers: a line of the other one has the number of the line
 * before which it was logged, and `own` has its stream and number. Each line is in exactly one window, whatever the clocks say.
 */
export function mergedLog(stdout: LogSource, stderr: LogSource): LogSource {
  const streams = { stdout, stderr };
  let base: LogStream = "stdout";
  let ends: Readonly<Record<LogStream, Ends | undefined>> = { stdout: undefined, stderr: undefined };
  /** By a number of the base, the first line of the other stream from its time on. */
  const places = new Map<number, Promise<number>>();
  const otherOf = (stream: LogStream): LogStream => (stream === "stdout" ? "stderr" : "stdout");

  const takeEnds = (found: typeof ends): void => {
    ends = found;
    const lengthOf = (stream: LogStream): number => lengthOfEnds(found[stream]);
    if (lengthOf(base) > 0 && lengthOf(otherOf(base)) <= lengthOf(base) * LONGER) return;
    if (lengthOf(otherOf(base)) === 0) return;
    base = otherOf(base);
    places.clear();
  };

  /** Where the other stream continues when the base has come to a number. */
  const placeOf = (number: number, signal: AbortSignal): Promise<number> => {
    const find = async (): Promise<number> => {
      const other = ends[otherOf(base)]!;
      const at = (await streams[base].firstFrom(number, signal))?.at;
      if (at !== undefined) return firstAt(streams[otherOf(base)], other, Date.parse(at), signal);
      places.delete(number);
      return other.last + 1;
    };
    const known = places.get(number) ?? find();
    places.set(number, known);
    known.catch(() => places.delete(number));
    return known;
  };

  return {
    isMerged: true,
    async ends(signal) {
      const [out, err] = await Promise.all([stdout.ends(signal), stderr.ends(signal)]);
      takeEnds({ stdout: out, stderr: err });
      const found = ends[base];
      return found === undefined ? undefined : { ...found, key: base };
    },
    async lines(from, to, signal) {
      const [own, other] = [ends[base], ends[otherOf(base)]];
      const mine = named(await streams[base].lines(from, to, signal), base);
      if (own === undefined || other === undefined) return mine;
      const begin = from <= own.first ? other.first : await placeOf(from, signal);
      const end = to >= own.last ? other.last : (await placeOf(to + 1, signal)) - 1;
      if (end < begin) return mine;
      const shownFrom = Math.max(begin, end - BETWEEN_MAX + 1);
      const theirs = named(await streams[otherOf(base)].lines(shownFrom, end, signal), otherOf(base));
      const left: LogLine[] =
        shownFrom === begin
          ? []
          : [
              {
                ...theirs[0]!,
                text: `[${shownFrom - begin} lines of ${otherOf(base)} before this one are in its own view]`,
              },
            ];
      return mergeLines(mine, [...left, ...theirs], to);
    },
    firstFrom: (number, signal) => streams[base].firstFrom(number, signal),
    async search(text, from, signal) {
      const next = (from === "" ? { stdout: "", stderr: "" } : JSON.parse(from)) as Partial<Record<LogStream, string>>;
      const pages = await Promise.all(
        (["stdout", "stderr"] as const).map(async (stream) => {
          const start = next[stream];
          if (start === undefined) return { stream, lines: [], next: undefined };
          const page = await streams[stream].search(text, start, signal);
          return { stream, lines: named(page.lines, stream), next: page.next };
        }),
      );
      const left = pages.filter((page) => page.next !== undefined).map((page) => [page.stream, page.next]);
      return {
        lines: mergeLines(pages[0]!.lines, pages[1]!.lines, Infinity),
        next: left.length === 0 ? undefined : JSON.stringify(Object.fromEntries(left)),
      };
    },
    async place(line, signal) {
      if (line.own === undefined || line.own.stream === base) return line.own?.number ?? line.number;
      const own = ends[base] ?? (await streams[base].ends(signal));
      return own === undefined
        ? line.number
        : Math.min(await firstAt(streams[base], own, Date.parse(line.at), signal), own.last);
    },
  };
}

const lengthOfEnds = (ends: Ends | undefined): number => (ends === undefined ? 0 : ends.last - ends.first + 1);

const named = (lines: readonly LogLine[], stream: LogStream): readonly LogLine[] =>
  lines.map((line) => ({ ...line, own: { stream, number: line.number } }));

/** Finds the first number of a stream from a time on by halves; one behind the last where all lines are older. */
async function firstAt(source: LogSource, { first, last }: Ends, time: number, signal: AbortSignal): Promise<number> {
  let [low, high] = [first, last + 1];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const line = await source.firstFrom(middle, signal);
    if (line === undefined || Date.parse(line.at) >= time) high = middle;
    else low = line.number + 1;
  }
  return low;
}

/** Merges lines of two streams by time, each stream in its own order; the other lines get the number of the base line behind them, at most `last`. */
function mergeLines(base: readonly LogLine[], other: readonly LogLine[], last: number): readonly LogLine[] {
  const merged: LogLine[] = [];
  let at = 0;
  for (const line of base) {
    for (; at < other.length && Date.parse(other[at]!.at) < Date.parse(line.at); at += 1)
      merged.push({ ...other[at]!, number: line.number });
    merged.push(line);
  }
  const end = base.at(-1)?.number ?? Math.min(last, other[0]?.number ?? last);
  for (; at < other.length; at += 1) merged.push({ ...other[at]!, number: end });
  return merged;
}
