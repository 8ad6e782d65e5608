import { lowerBound } from "../scene/line-model.ts";
import type { Range } from "../scene/scale.ts";

/** The horizontal axis of a chart. */
export type XAxis = "step" | "relative" | "time" | `metric:${string}`;

/** How the server smooths. */
export type Smoothing = { readonly kind: "ema" | "gaussian" | "mean"; readonly parameter: number };

/** Points of a metric of a run, or buckets of them, as columns of one length in the order of `x`. */
export type Series = {
  readonly runId: string;
  readonly key: string;
  /** These are buckets. */
  readonly sampled: boolean;
  /** There are more points than the server sends. */
  readonly truncated: boolean;
  /** Where a point lies on the axis; of a bucket the middle of it. */
  readonly x: Float64Array;
  readonly step: Float64Array;
  /** Values, or means of the finite values of buckets, NaN without any. */
  readonly y: Float64Array;
  readonly low?: Float64Array;
  readonly high?: Float64Array;
  /** Finite values of each bucket. */
  readonly count?: Float64Array;
  /** Other values of each bucket; undefined where no bucket has any. */
  readonly nonFinite?: Float64Array;
  readonly first?: Float64Array;
  readonly last?: Float64Array;
  readonly smoothed?: Float64Array;
};

/** The request to the server for one chart. */
export type SeriesQuery = {
  readonly key: string;
  readonly runIds: readonly string[];
  readonly x: XAxis;
  readonly smoothing: Smoothing | undefined;
  /** Only between these steps, with one point beyond each. */
  readonly steps: readonly [number, number] | undefined;
  readonly buckets: number;
  /** Of forks also the points of what they were forked from, up to the steps of the forks. */
  readonly lineage?: true;
};

/** About the bytes that a series takes in memory. */
export function bytesOf(series: Series): number {
  return Object.values(series).reduce<number>(
    (sum, column) => sum + (column instanceof Float64Array ? column.byteLength : 0),
    200,
  );
}

/** A distance this many times the usual one is a gap. */
const GAP = 3;

/** This share of the distances between neighbors counts as usual, so that points in pairs have no gaps. */
const USUAL_SHARE = 0.8;

/**
 * Returns the distance from which the line between two neighbors would hide a gap: several times the usual one in the series. Gaps are also those to
 * both neighbors' sides, see {@link isGap}; a series whose distances grow, as of evaluations at 1, 2, 4, 8, …, has none.
 */
export function gapOf(x: Float64Array): number {
  if (x.length < 3) return Infinity;
  const distances = new Float64Array(x.length - 1);
  for (let i = 1; i < x.length; i++) distances[i - 1] = x[i]! - x[i - 1]!;
  distances.sort();
  const usual = distances[Math.min(distances.length - 1, Math.floor(distances.length * USUAL_SHARE))]!;
  return usual > 0 ? usual * GAP : Infinity;
}

/** Whether there is a gap before the point at this place. */
export function isGap(x: Float64Array, i: number, least: number): boolean {
  const distance = x[i]! - x[i - 1]!;
  if (!(distance > least)) return false;
  const before = i >= 2 ? x[i - 1]! - x[i - 2]! : 0;
  const after = i + 1 < x.length ? x[i + 1]! - x[i]! : 0;
  return distance > GAP * Math.max(before, after) || Math.max(before, after) > least;
}

/**
 * Returns the step behind which everything is new to charts of these runs that still run: the least of their latest ones. Undefined where a run has no
 * points yet, so that all has to be read.
 */
export function newBehind(series: readonly Series[], runningIds: readonly string[]): number | undefined {
  const last = new Map(series.map((one) => [one.runId, one.step.at(-1)!]));
  const steps = runningIds.map((id) => last.get(id));
  if (steps.length === 0 || steps.some((step) => step === undefined || step < 0)) return undefined;
  return Math.min(...(steps as number[]));
}

/** Returns series with the points after their last steps. In a series of buckets, new points are buckets of one point, until it is read again. */
export function withNew(series: readonly Series[], added: readonly Series[]): readonly Series[] {
  const byRun = new Map(added.map((one) => [one.runId, one]));
  return series.map((one) => {
    const more = byRun.get(one.runId);
    if (more === undefined) return one;
    const last = one.step.at(-1) ?? -Infinity;
    const from = more.step.findIndex((step) => step > last);
    return from < 0 ? one : appended(one, more, from);
  });
}

/** How many entries series have in all. */
export function entriesOf(series: readonly Series[]): number {
  return series.reduce((sum, { step }) => sum + step.length, 0);
}

function appended(one: Series, more: Series, from: number): Series {
  const join = (a: Float64Array, b: Float64Array): Float64Array => {
    const both = new Float64Array(a.length + b.length - from);
    both.set(a);
    both.set(b.subarray(from), a.length);
    return both;
  };
  const common = { ...one, x: join(one.x, more.x), step: join(one.step, more.step), y: join(one.y, more.y) };
  if (!one.sampled && !more.sampled) return common;
  const single = (series: Series): Float64Array =>
    series.count ?? series.y.map((value) => (Number.isFinite(value) ? 1 : 0));
  const others = (series: Series): Float64Array =>
    series.nonFinite ?? series.y.map((value) => (series.count === undefined && !Number.isFinite(value) ? 1 : 0));
  const nonFinite = join(others(one), others(more));
  const column = (name: "low" | "high" | "first" | "last"): Float64Array =>
    join(one[name] ?? one.y, more[name] ?? more.y);
  return {
    ...common,
    sampled: true,
    low: column("low"),
    high: column("high"),
    first: column("first"),
    last: column("last"),
    count: join(single(one), single(more)),
    ...(nonFinite.some((found) => found > 0) ? { nonFinite } : {}),
  };
}

/**
 * Returns the steps that a zoomed range of an axis covers, so that the server can sample inside it. On other axes than steps they are looked up in what
 * is known: the least and the most step of the points in the range and of their neighbors. Undefined where nothing is known of it.
 */
export function stepsWithin(zoom: Range, axis: XAxis, known: readonly Series[]): readonly [number, number] | undefined {
  if (axis === "step") return [Math.max(0, zoom[0]), Math.max(0, zoom[1])];
  let [low, high] = [Infinity, -Infinity];
  for (const { x, step } of known) {
    const from = Math.max(0, lowerBound(x, zoom[0]) - 1);
    const to = Math.min(x.length, lowerBound(x, zoom[1]) + 1);
    for (let i = from; i < to; i++) {
      low = Math.min(low, step[i]!);
      high = Math.max(high, step[i]!);
    }
  }
  return low <= high ? [low, high] : undefined;
}
