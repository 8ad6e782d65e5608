import type { Range, Scale } from "./scale.ts";

/** A line of a chart: of a run, or of a group of runs. All columns have one length and the order of `x`. */
export type Line = {
  readonly id: string;
  readonly name: string;
  readonly color: string;
  readonly dash: readonly number[];
  readonly x: Float64Array;
  readonly y: Float64Array;
  /** A band: the lowest and highest value of each bucket, or what a group spreads over. */
  readonly low?: Float64Array | undefined;
  readonly high?: Float64Array | undefined;
  /** Whether the band is how far the runs of a group spread, which has no spikes that may hide in a bucket. */
  readonly isSpread?: boolean;
  readonly count?: Float64Array | undefined;
  /** Of buckets: how many of their values are NaN or infinite, in addition to `count`. */
  readonly nonFinite?: Float64Array | undefined;
  /** Only its points are drawn. */
  readonly hasOnlyPoints?: boolean;
  readonly smoothed?: Float64Array | undefined;
  readonly step?: Float64Array | undefined;
  /** Of a fork with the part of its parent: points up to this step are the parent's. */
  readonly forkStep?: number | undefined;
};

/** Whether a point of a fork is one of its parent's. */
export function isInherited({ step, forkStep }: Line, i: number): boolean {
  return forkStep !== undefined && step !== undefined && step[i]! <= forkStep;
}

/** How an axis is drawn. Steps may be whole numbers alone. */
export type AxisKind = "step" | "number" | "duration" | "clock";

/** Options of the axes. */
export type Axes = {
  readonly x: { readonly kind: AxisKind; readonly log: boolean; readonly label?: string };
  readonly y: { readonly log: boolean; readonly ignoreOutliers: boolean; readonly label?: string };
  /** Shown instead of everything. */
  readonly zoomX?: Range | undefined;
  readonly zoomY?: Range | undefined;
  /** Where the vertical axis begins and ends unless it is zoomed; an undefined end follows the data. */
  readonly rangeY?: readonly [number | undefined, number | undefined] | undefined;
  /** How far local time is ahead of UTC. */
  readonly offsetMinutes?: number;
};

/** Returns the first place in an ascending column that is not below a value. */
export function lowerBound(column: Float64Array, value: number): number {
  let [low, high] = [0, column.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (column[middle]! < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Returns the place of the point that is nearest on the axis, be its value finite or not; -1 where there is none. */
export function nearestAt(line: Pick<Line, "x">, x: number): number {
  const after = lowerBound(line.x, x);
  const before = after - 1;
  if (after >= line.x.length) return before;
  if (before < 0) return after;
  return x - line.x[before]! <= line.x[after]! - x ? before : after;
}

/**
 * Returns where a point or bucket of an axis of steps is, for people to read: a bucket of several points lies between whole steps, and the nearest one is
 * named.
 */
export function stepAt({ x, count }: Line, place: number): number {
  const at = x[place]!;
  if (count === undefined || Number.isInteger(at)) return at;
  const next = place + 1 < x.length ? x[place + 1]! - at : at - (x[place - 1] ?? at);
  return Math.abs(next) >= 1 ? Math.round(at) : at;
}

/** Returns a column without the parent's part, so that the line begins with the fork. */
export function ownPart(line: Line, ys: Float64Array): Float64Array {
  return line.forkStep === undefined ? ys : ys.map((value, i) => (isInherited(line, i) ? Number.NaN : value));
}

/** Returns the parent's part of a column of a fork, up to the first own point, so that both parts meet there. */
export function inheritedPart(line: Line, ys: Float64Array): Float64Array {
  return ys.map((value, i) => (isInherited(line, i) || (i > 0 && isInherited(line, i - 1)) ? value : Number.NaN));
}

/** Returns where the last point of the parent's part lies, if it is in view. */
export function forkPlace(line: Line, ys: Float64Array, x: Scale, y: Scale): Float64Array {
  let last = -1;
  for (let i = 0; i < ys.length; i++)
    if (isInherited(line, i) && (last < 0 || line.step![i]! >= line.step![last]!)) last = i;
  if (last < 0) return new Float64Array();
  const place = Float64Array.of(x.toPixel(line.x[last]!), y.toPixel(ys[last]!));
  return place.every(Number.isFinite) ? place : new Float64Array();
}
