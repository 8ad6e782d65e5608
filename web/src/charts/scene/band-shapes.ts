import { isGap } from "../series/series.ts";
import type { Line } from "./line-model.ts";
import type { Scale } from "./scale.ts";

/** A bucket that reaches this many pixels beyond both neighbors is drawn stronger than the band, which would be one faint pixel wide there. */
const SPIKE_PIXELS = 6;

/** Returns the buckets that reach far beyond both neighbors, as upright lines. */
export function spikesOf(
  { x: xs }: Line,
  { low, high }: { readonly low: Float64Array; readonly high: Float64Array },
  [from, to]: readonly [number, number],
  x: Scale,
  y: Scale,
): Float64Array {
  const points: number[] = [];
  const bottom = Math.max(...y.pixels);
  const ends = (i: number): readonly [number, number] | undefined => {
    if (i < 0 || i >= xs.length) return undefined;
    const [top, under] = [y.toPixel(high[i]!), y.toPixel(low[i]!)];
    return Number.isFinite(top) ? [top, Number.isFinite(under) ? under : bottom] : undefined;
  };
  for (let i = from; i < to; i++) {
    const [own, before, after] = [ends(i), ends(i - 1), ends(i + 1)];
    if (own === undefined || before === undefined || after === undefined) continue;
    const reachesUp = own[0] < Math.min(before[0], after[0]) - SPIKE_PIXELS;
    const reachesDown = own[1] > Math.max(before[1], after[1]) + SPIKE_PIXELS;
    const left = x.toPixel(xs[i]!);
    if (reachesUp || reachesDown) points.push(left, own[0], left, own[1], Number.NaN, Number.NaN);
  }
  return Float64Array.from(points);
}

/** Pixels that a band has at least, so that one spike among many points is seen even where the mean hides it. */
const BAND_PIXELS_MIN = 1;

/** Returns a band in pixels, as closed pieces between gaps. A logarithmic axis shows the part above 0. */
export function bandOf(
  { x: xs }: Line,
  { low, high }: { readonly low: Float64Array; readonly high: Float64Array },
  [from, to]: readonly [number, number],
  x: Scale,
  y: Scale,
  gap: number,
): Float64Array {
  const points: number[] = [];
  let upper: number[] = [];
  let lower: number[] = [];
  const end = (): void => {
    if (upper.length === 2) {
      // A bucket alone has a width of one pixel.
      upper = [upper[0]! - 0.5, upper[1]!, upper[0]! + 0.5, upper[1]!];
      lower = [lower[0]! - 0.5, lower[1]!, lower[0]! + 0.5, lower[1]!];
    }
    for (let i = 0; i < upper.length; i++) points.push(upper[i]!);
    for (let i = lower.length - 2; i >= 0; i -= 2) points.push(lower[i]!, lower[i + 1]!);
    if (upper.length > 0) points.push(Number.NaN, Number.NaN);
    [upper, lower] = [[], []];
  };
  const bottom = Math.max(...y.pixels);
  for (let i = from; i < to; i++) {
    const left = x.toPixel(xs[i]!);
    const [top, least] = [y.toPixel(high[i]!), y.toPixel(low[i]!)];
    if (!Number.isFinite(left) || !Number.isFinite(top)) {
      end();
      continue;
    }
    if (upper.length > 0 && isGap(xs, i, gap)) end();
    const under = Number.isFinite(least) ? least : bottom + 1;
    const more = Math.max(0, BAND_PIXELS_MIN - (under - top)) / 2;
    upper.push(left, top - more);
    lower.push(left, under + more);
  }
  end();
  return Float64Array.from(points);
}
