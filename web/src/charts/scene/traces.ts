import { isGap } from "../series/series.ts";
import type { Scale } from "./scale.ts";

/** The points from the first place up to the second one. */
export type Places = readonly [from: number, to: number];

/** Lines in pixels, each with a pair of NaN behind it, and the points that no line reaches. */
export type Trace = { readonly path: Float64Array; readonly dots: Float64Array };

export const NO_TRACE: Trace = { path: new Float64Array(), dots: new Float64Array() };

/** The upper and the lower edge of a band in pixels, from the place `from` on. */
type Edges = {
  readonly from: number;
  readonly left: Float64Array;
  readonly top: Float64Array;
  readonly under: Float64Array;
};

/** Whether a number is finite; in a loop over all points this is faster than a call. */
const isFinite = (value: number): boolean => value - value === 0;

/** Returns a line in pixels, which ends before gaps and values without a place on the axes. With a gap of 0 there are only dots. */
export function traceOf(
  xs: Float64Array,
  ys: Float64Array,
  [from, to]: Places,
  x: Scale,
  y: Scale,
  gap: number,
): Trace {
  const [left, top] = [x.toPixels(xs, from, to), y.toPixels(ys, from, to)];
  // A line has two points and an end at least.
  const path = new Float64Array(3 * left.length + 2);
  const dots: number[] = [];
  let [n, length] = [0, 0];
  const end = (): void => {
    if (length === 1) {
      n -= 2;
      dots.push(path[n]!, path[n + 1]!);
    } else if (length > 1) {
      path[n++] = Number.NaN;
      path[n++] = Number.NaN;
    }
    length = 0;
  };
  for (let i = 0; i < left.length; i++) {
    if (!isFinite(left[i]!) || !isFinite(top[i]!)) {
      end();
      continue;
    }
    if (length > 0 && (gap === 0 || isGap(xs, from + i, gap))) end();
    path[n++] = left[i]!;
    path[n++] = top[i]!;
    length += 1;
  }
  end();
  return { path: path.subarray(0, n), dots: Float64Array.from(dots) };
}

/** Returns the edges of a band with those of a neighbor on each side. */
export function edgesOf(
  xs: Float64Array,
  { low, high }: { readonly low: Float64Array; readonly high: Float64Array },
  [from, to]: Places,
  x: Scale,
  y: Scale,
): Edges {
  const [first, end] = [Math.max(0, from - 1), Math.min(xs.length, to + 1)];
  return {
    from: first,
    left: x.toPixels(xs, first, end),
    top: y.toPixels(high, first, end),
    under: y.toPixels(low, first, end),
  };
}

/** A bucket that reaches this many pixels beyond both neighbors is drawn stronger than the band, which would be one faint pixel wide there. */
const SPIKE_PIXELS = 6;

/** Returns the buckets that reach far beyond both neighbors, as upright lines. */
export function spikesOf({ from: first, left, top, under }: Edges, [from, to]: Places, bottom: number): Float64Array {
  const points: number[] = [];
  const lowest = (i: number): number => (isFinite(under[i]!) ? under[i]! : bottom);
  const end = Math.min(to - first, left.length - 1);
  for (let i = Math.max(1, from - first); i < end; i++) {
    const [before, own, after] = [top[i - 1]!, top[i]!, top[i + 1]!];
    if (!isFinite(before) || !isFinite(own) || !isFinite(after)) continue;
    const reachesUp = own < Math.min(before, after) - SPIKE_PIXELS;
    const reachesDown = lowest(i) > Math.max(lowest(i - 1), lowest(i + 1)) + SPIKE_PIXELS;
    if (reachesUp || reachesDown) points.push(left[i]!, own, left[i]!, lowest(i), Number.NaN, Number.NaN);
  }
  return Float64Array.from(points);
}

/** Pixels that a band has at least, so that one spike among many points is seen even where the mean hides it. */
const BAND_PIXELS_MIN = 1;

/** Returns a band in pixels, as closed pieces between gaps. A logarithmic axis shows the part above 0. */
export function bandOf(
  xs: Float64Array,
  { from: first, left, top, under }: Edges,
  [from, to]: Places,
  bottom: number,
  gap: number,
): Float64Array {
  // A bucket alone has four points and an end.
  const points = new Float64Array(10 * (to - from));
  let [n, begin] = [0, from - first];
  const put = (x: number, y: number): void => {
    points[n++] = x;
    points[n++] = y;
  };
  const end = (behind: number): void => {
    // A bucket alone has a width of one pixel.
    const half = behind - begin === 1 ? 0.5 : 0;
    for (let i = begin; i < behind; i++) {
      const y = top[i]! - moreOf(i);
      if (half > 0) put(left[i]! - half, y);
      put(left[i]! + half, y);
    }
    for (let i = behind - 1; i >= begin; i--) {
      const y = lowest(i) + moreOf(i);
      put(left[i]! + half, y);
      if (half > 0) put(left[i]! - half, y);
    }
    if (behind > begin) put(Number.NaN, Number.NaN);
  };
  const lowest = (i: number): number => (isFinite(under[i]!) ? under[i]! : bottom + 1);
  const moreOf = (i: number): number => Math.max(0, BAND_PIXELS_MIN - (lowest(i) - top[i]!)) / 2;
  for (let i = from - first; i < to - first; i++) {
    if (!isFinite(left[i]!) || !isFinite(top[i]!)) {
      end(i);
      begin = i + 1;
    } else if (i > begin && isGap(xs, first + i, gap)) {
      end(i);
      begin = i;
    }
  }
  end(to - first);
  return points.subarray(0, n);
}
