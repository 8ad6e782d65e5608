import type { NonFiniteText } from "../../api/run-types.ts";
import type { Series, SeriesQuery } from "./series.ts";

/** Numbers as the server sends them: `NaN` and infinite ones are texts, and large integers are `bigint` where an answer was read with every digit. */
export type SentColumn = readonly (number | bigint | NonFiniteText | null)[];

/** Returns numbers as charts draw them, NaN for null. */
export function numbersOf(column: SentColumn): Float64Array {
  return Float64Array.from(column, (value) => (value === null ? Number.NaN : Number(value)));
}

/** A series as the server sends it. */
export type SentSeries = {
  readonly run_id: string;
  readonly key: string;
  readonly columns: Readonly<Record<string, SentColumn | undefined>>;
  readonly truncated: boolean;
  readonly sampled: boolean;
};

/** Turns a series into typed columns. */
export function seriesOf(sent: SentSeries, { x: axis }: Pick<SeriesQuery, "x">): Series {
  const column = (name: string): Float64Array | undefined => {
    const values = sent.columns[name];
    return values === undefined ? undefined : numbersOf(values);
  };
  const step = column("step") ?? new Float64Array();
  const y = column(sent.sampled ? "mean" : "value") ?? new Float64Array(step.length).fill(Number.NaN);
  const left = axis === "step" ? step : (column("x") ?? step);
  const count = column("count");
  const smoothed = column("smoothed");
  const common = {
    runId: sent.run_id,
    key: sent.key,
    sampled: sent.sampled,
    truncated: sent.truncated,
    step,
    y,
    ...(smoothed === undefined ? {} : { smoothed }),
  };
  if (!sent.sampled || count === undefined) return { ...common, x: left };
  const nonFinite = column("non_finite");
  const more = Object.fromEntries(
    [
      ["low", column("min")],
      ["high", column("max")],
      ["first", column("first")],
      ["last", column("last")],
      ["nonFinite", nonFinite],
    ].filter(([, values]) => values !== undefined),
  ) as Pick<Series, "low" | "high" | "first" | "last" | "nonFinite">;
  const points = nonFinite === undefined ? count : count.map((finite, i) => finite + nonFinite[i]!);
  return { ...common, ...more, count, x: middles(left, points, axis === "step") };
}

/**
 * Returns the middles of buckets that are given by where they begin. All have one width, which is the least distance of two neighbors. Buckets of one
 * point, as those at the edges of a range are, stay where they begin. Whole steps are in the middle of those that the bucket covers.
 */
export function middles(left: Float64Array, count: Float64Array, wholeSteps: boolean): Float64Array {
  let width = Infinity;
  for (let i = 1; i < left.length; i++) {
    const distance = left[i]! - left[i - 1]!;
    if (distance > 0 && distance < width && count[i]! > 1 && count[i - 1]! > 1) width = distance;
  }
  if (width === Infinity) return left;
  const half = halfOf(left, width, wholeSteps);
  return left.map((from, i) => (count[i]! > 1 ? from + half : from));
}

/** Returns the middles of buckets that are given by where they begin and how much of the axis they cover. Those of one whole number stay there. */
export function middlesOf(left: Float64Array, width: number, wholeSteps: boolean): Float64Array {
  if (width <= 1 && left.every(Number.isInteger)) return left;
  const half = halfOf(left, width, wholeSteps);
  return left.map((from) => from + half);
}

function halfOf(left: Float64Array, width: number, wholeSteps: boolean): number {
  return wholeSteps && width >= 1 && left.every(isNearlyRound) ? (width - 1) / 2 : width / 2;
}

/** Steps with a fraction have buckets of any width; where whole ones begin is a whole number at least in the first bucket. */
function isNearlyRound(value: number, i: number): boolean {
  return i > 0 || Number.isInteger(value);
}

/** Between two series of an answer. A quote within a text is escaped, so no text can hold it. */
const BETWEEN = ',{"run_id":';
const LIST = '"series":[';

/**
 * Splits the text of an answer into series as it arrives, so that each is parsed by itself and the page can do other things in between. Feed it with
 * pieces of the text; it returns the series that are complete.
 */
export function splitSeries(): { push(text: string): SentSeries[]; end(): SentSeries[] } {
  let unread = "";
  let isBegun = false;
  /** Up to here there is no boundary. */
  let searched = 0;
  const push = (text: string): SentSeries[] => {
    unread += text;
    if (!isBegun) {
      const at = unread.indexOf(LIST);
      if (at < 0) return [];
      unread = unread.slice(at + LIST.length);
      isBegun = true;
    }
    const found: SentSeries[] = [];
    let from = 0;
    for (;;) {
      const at = unread.indexOf(BETWEEN, Math.max(from + 1, searched));
      if (at < 0) break;
      found.push(JSON.parse(unread.slice(from, at)) as SentSeries);
      from = at + 1;
      searched = from + 1;
    }
    unread = unread.slice(from);
    searched = Math.max(0, unread.length - BETWEEN.length);
    return found;
  };
  const end = (): SentSeries[] => {
    // What is unread is the last series and the members after the list.
    if (!isBegun) throw new SyntaxError("The answer has no series.");
    const tail = JSON.parse(`{"series":[${unread}`) as { readonly series: SentSeries[] };
    return tail.series;
  };
  return { push, end };
}
