import {
  areFinite,
  createBucketSampler,
  meanOf,
  bucketIndex,
  smooth,
  type Grid,
  type Smoothing,
} from "@tidemark/codecs/metrics";
import { eachStretch } from "../read/sample-series.rules.ts";
import { orderBy, pick, type SortedPoints } from "./collect-points.rules.ts";
import { concat, withEdgeBuckets } from "./edge-buckets.rules.ts";
import { type Bounds, millisecondsOf, type SeriesColumns } from "./series-columns.rules.ts";

/** How a series is drawn from all its points. */
export type Drawing = {
  readonly bounds: Bounds;
  readonly edges: boolean;
  readonly smoothing: Smoothing | undefined;
  /** Returns the numbers of the points on the axis, not a finite one for a point that is not on it; undefined: the steps. */
  readonly axisOf: ((points: SortedPoints) => Float64Array) | undefined;
};

/** Points to show, as columns of one length; unwanted ones are empty. */
type Rows = {
  readonly step: Float64Array;
  readonly value: Float64Array;
  readonly timeUs: Float64Array;
  readonly smoothed: Float64Array;
  readonly x: Float64Array;
};

/** The shown points of a series. */
export type Drawn = {
  /** The points between the bounds, by the axis. */
  readonly inside: Rows;
  /** The points right before and right after the bounds, if any. */
  readonly before: Rows;
  readonly after: Rows;
};

/** Smooths all points, and selects the points to show. */
export function drawPoints(points: SortedPoints, { bounds, edges, smoothing, axisOf }: Drawing): Drawn {
  const all = {
    step: points.steps,
    value: points.values,
    timeUs: points.timesUs,
    smoothed: smoothing === undefined ? NONE : smooth(smoothing, points.steps, points.values),
    x: axisOf?.(points) ?? NONE,
  };
  const rows = axisOf === undefined ? all : rowsAt(all, onAxis(all.x));
  const begin = countBelow(rows.step, bounds.from, false);
  const end = countBelow(rows.step, bounds.to, true);
  const inside = slice(rows, begin, Math.max(begin, end));
  return {
    inside: axisOf === undefined ? inside : rowsAt(inside, orderBy(inside.x)),
    before: slice(rows, edges ? Math.max(0, begin - 1) : begin, begin),
    after: slice(rows, end, edges ? end + 1 : end),
  };
}

/** Returns the lowest and the highest number on the axis; undefined without points, and for the axis of steps. */
export function axisRange({ inside: { x } }: Drawn): { readonly low: number; readonly high: number } | undefined {
  return x.length === 0 ? undefined : { low: x[0]!, high: x.at(-1)! };
}

/** Returns the columns of the first `limit` points. */
export function columnsOfPoints({ inside, before, after }: Drawn, limit: number): SeriesColumns {
  const truncated = inside.step.length > limit;
  const parts = [before, slice(inside, 0, limit), ...(truncated ? [] : [after])];
  const joined = (name: keyof Rows): Float64Array => concat(parts.map((rows) => rows[name]));
  return {
    sampled: false,
    truncated,
    step: joined("step"),
    value: joined("value"),
    time: joined("timeUs").map(millisecondsOf),
    smoothed: joined("smoothed"),
    x: joined("x"),
  };
}

/** Returns the columns of the parts of a grid on the axis. */
export function columnsOfBuckets({ inside, before, after }: Drawn, grid: Grid): SeriesColumns {
  const isStepped = inside.x.length === 0;
  const axis = isStepped ? inside.step : inside.x;
  const sampler = createBucketSampler(grid);
  const firstSteps: number[] = [];
  const smoothed: number[] = [];
  // The axis never decreases, so each part is one stretch.
  eachStretch(
    (at) => bucketIndex(grid, at),
    axis,
    (from, to) => {
      sampler.addStretch(axis, inside.value, from, to);
      firstSteps.push(inside.step[from]!);
      if (inside.smoothed.length > 0) smoothed.push(meanOfFinite(inside.smoothed.subarray(from, to)));
    },
  );
  const taken = sampler.take();
  const buckets = isStepped ? taken : { ...taken, step: Float64Array.from(firstSteps) };
  const around = (column: Float64Array, name: keyof Rows): Float64Array => concat([before[name], column, after[name]]);
  return {
    sampled: true,
    ...withEdgeBuckets(buckets, before, after),
    smoothed: around(Float64Array.from(smoothed), "smoothed"),
    x: isStepped ? NONE : around(taken.step, "x"),
  };
}

/** Returns the mean of the finite numbers; NaN without one. */
function meanOfFinite(numbers: Float64Array): number {
  const finite = areFinite(numbers, 0, numbers.length) ? numbers : numbers.filter(Number.isFinite);
  return finite.length === 0 ? Number.NaN : meanOf(finite, 0, finite.length);
}

const NONE = new Float64Array(0);

function onAxis(x: Float64Array): Uint32Array {
  return Uint32Array.from(x.keys()).filter((i) => Number.isFinite(x[i]!));
}

function rowsAt({ step, value, timeUs, smoothed, x }: Rows, places: Uint32Array): Rows {
  return {
    step: pick(step, places),
    value: pick(value, places),
    timeUs: pick(timeUs, places),
    smoothed: pick(smoothed, places),
    x: pick(x, places),
  };
}

function slice({ step, value, timeUs, smoothed, x }: Rows, from: number, to: number): Rows {
  return {
    step: step.subarray(from, to),
    value: value.subarray(from, to),
    timeUs: timeUs.subarray(from, to),
    smoothed: smoothed.subarray(from, to),
    x: x.subarray(from, to),
  };
}

/** Returns how many of ascending steps are below a step, or at or below it. */
function countBelow(steps: Float64Array, step: number, isInclusive: boolean): number {
  let low = 0;
  let high = steps.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (isInclusive ? steps[middle]! <= step : steps[middle]! < step) low = middle + 1;
    else high = middle;
  }
  return low;
}
