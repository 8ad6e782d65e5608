import { areFinite, finitePoints } from "./numbers/finite.ts";

/**
 * How a series is smoothed. The parameter of `ema` is the share of the past left after a step, in [0, 1); of `gaussian` the standard deviation, and of
 * `mean` the width of the window, in steps, above 0.
 */
export type Smoothing = { readonly kind: (typeof SMOOTHING_KINDS)[number]; readonly parameter: number };

/** How a series can be smoothed. */
export const SMOOTHING_KINDS = ["ema", "gaussian", "mean"] as const;

/** Larger values are smoothed as parts of themselves, so that no sum of some is too large. */
const LARGE = 2 ** 960;
const PART = 2 ** -60;

/**
 * Returns one number for each point. The points are in the order of their steps. Each number depends on the points alone, so it is the same for any part of
 * them that is drawn. For finite values it is finite. Other values are left out; their number is NaN.
 */
export function smooth(smoothing: Smoothing, steps: Float64Array, values: Float64Array): Float64Array {
  if (areFinite(values, 0, values.length)) return smoothFinite(smoothing, steps, values);
  const finite = finitePoints(steps, values);
  const numbers = smoothFinite(smoothing, finite.steps, finite.values);
  let next = 0;
  return values.map((value) => (Number.isFinite(value) ? numbers[next++]! : Number.NaN));
}

function smoothFinite(smoothing: Smoothing, steps: Float64Array, values: Float64Array): Float64Array {
  if (!values.some((value) => Math.abs(value) > LARGE)) return smoothed(smoothing, steps, values);
  const parts = smoothed(
    smoothing,
    steps,
    values.map((value) => value * PART),
  );
  return parts.map((part) => Math.max(-Number.MAX_VALUE, Math.min(part / PART, Number.MAX_VALUE)));
}

function smoothed({ kind, parameter }: Smoothing, steps: Float64Array, values: Float64Array): Float64Array {
  if (kind === "ema") return exponentialMean(steps, values, parameter);
  return kind === "gaussian" ? gaussianMean(steps, values, parameter) : runningMean(steps, values, parameter);
}

/**
 * Exponential moving average, weighed by the distance of steps and corrected for its beginning. `weight` w, in [0, 1), is the share of the past that remains
 * after one step. With d the steps from the point before (1 for the first point, and for one at the same step, so that it counts as well) and a = w^d,
 *
 *   s = a s + (1 - a) value,  n = a n + (1 - a),  smoothed = s / n,  beginning with s = n = 0,
 *
 * so that the weights of all points so far add up to 1. For one point a step this is what TensorBoard draws: s = w s + (1 - w) value, divided by 1 - w^k after
 * k points (tensorboard/components/vz_line_chart2/line-chart.ts, resmoothDataset; the correction is from D. P. Kingma and J. Ba, "Adam: A Method for
 * Stochastic Optimization", 2015, section 3). For other distances it is the average of an irregularly spaced series with the next point's value in between
 * (A. Eckner, "Algorithms for Unevenly Spaced Time Series: Moving Averages and Other Rolling Operators", 2012). Takes constant memory plus the result.
 */
function exponentialMean(steps: Float64Array, values: Float64Array, weight: number): Float64Array {
  const smoothed = new Float64Array(values.length);
  let sum = 0;
  let norm = 0;
  for (let i = 0; i < values.length; i++) {
    const distance = i === 0 ? 1 : steps[i]! - steps[i - 1]!;
    const kept = distance === 1 || distance === 0 ? weight : weight ** distance;
    sum = kept * sum + (1 - kept) * values[i]!;
    norm = kept * norm + (1 - kept);
    // A tiny distance may round its weight to nothing.
    smoothed[i] = norm === 0 ? values[i]! : sum / norm;
  }
  return smoothed;
}

/**
 * Running average: the mean of all points whose steps are at most half of `width` away, before and behind. Takes time by the number of points alone: the points of
 * the window are a front part, with known sums from each point to its end, and a back part, which has one sum. Points leave at the front and enter at
 * the back, and when the front is used up, the whole window becomes the new front (K. Tangwongsan, M. Hirzel and S. Schneider, "Low-Latency Sliding-Window
 * Aggregation in Worst-Case Constant Time", 2017, section 3, Two-Stacks). Nothing is ever subtracted, so a large value leaves nothing behind.
 */
function runningMean(steps: Float64Array, values: Float64Array, width: number): Float64Array {
  const smoothed = new Float64Array(values.length);
  const reach = width / 2;
  const front = new Float64Array(values.length);
  let back = 0;
  // The window is [from, to), its front part [from, middle).
  let from = 0;
  let middle = 0;
  let to = 0;
  for (let i = 0; i < values.length; i++) {
    while (to < values.length && steps[to]! - steps[i]! <= reach) back += values[to++]!;
    while (steps[i]! - steps[from]! > reach) {
      from += 1;
      if (from < middle) continue;
      for (let at = to - 1, sum = 0; at >= from; at--) {
        sum += values[at]!;
        front[at] = sum;
      }
      middle = to;
      back = 0;
    }
    smoothed[i] = ((from < middle ? front[from]! : 0) + back) / (to - from);
  }
  return smoothed;
}

/** Beyond this many standard deviations a point has less than 2e-8 of the weight of the nearest one, and is left out. */
const REACH = 6;
/** With more points than this within reach of a point on average, cells replace them. */
const DIRECT_MAX = 64;

/**
 * Gaussian smoothing: the mean of all points, weighed by exp(-d^2 / (2 deviation^2)) with d their distance in steps (E. A. Nadaraya, "On Estimating Regression",
 * 1964; G. S. Watson, "Smooth Regression Analysis", 1964). Where many points are within reach of each, cells of an eighth of the deviation replace them; the
 * result then differs by less than a thousandth of the spread of the values. Takes time by the number of points, for any deviation.
 * @param deviation in steps, above 0
 */
function gaussianMean(steps: Float64Array, values: Float64Array, deviation: number): Float64Array {
  return neighborsOf(steps, REACH * deviation) <= DIRECT_MAX * steps.length
    ? directly(steps, values, deviation)
    : byCells(steps, values, deviation);
}

/** Returns how many points are at most `reach` away from each point, added up. */
function neighborsOf(steps: Float64Array, reach: number): number {
  let total = 0;
  let from = 0;
  for (let i = 0; i < steps.length; i++) {
    while (steps[i]! - steps[from]! > reach) from += 1;
    total += 2 * (i - from) + 1;
  }
  return total;
}

function directly(steps: Float64Array, values: Float64Array, deviation: number): Float64Array {
  const smoothed = new Float64Array(values.length);
  const reach = REACH * deviation;
  let from = 0;
  for (let i = 0; i < values.length; i++) {
    while (steps[i]! - steps[from]! > reach) from += 1;
    let sum = 0;
    let norm = 0;
    for (let other = from; other < values.length; other++) {
      const distance = steps[other]! - steps[i]!;
      if (distance > reach) break;
      const weight = Math.exp(-0.5 * (distance / deviation) ** 2);
      sum += weight * values[other]!;
      norm += weight;
    }
    smoothed[i] = sum / norm;
  }
  return smoothed;
}

const CELLS_PER_DEVIATION = 8;
/** Cells within reach on each side: 4.5 standard deviations. */
const CELLS_REACH = 36;
/** Cells that are calculated at a time. */
const CELLS_MAX = 65_536;

/**
 * Each point is shared by the two cells between whose centers it lies, in proportion; cells are weighed by their distance; and values between two centers are
 * interpolated. Both of the first and the last widen the kernel by a sixth of the square of a cell, by which the kernel of the cells is narrower.
 */
function byCells(steps: Float64Array, values: Float64Array, deviation: number): Float64Array {
  const width = deviation / CELLS_PER_DEVIATION;
  const kernel = Float64Array.from({ length: CELLS_REACH + 1 }, (_, d) =>
    Math.exp((-0.5 * d ** 2) / (CELLS_PER_DEVIATION ** 2 - 1 / 3)),
  );
  const smoothed = new Float64Array(values.length);
  const room = CELLS_MAX + 4 * CELLS_REACH;
  const [sums, counts, wideSums, wideCounts] = Array.from({ length: 4 }, () => new Float64Array(room)) as Four;
  let from = 0;
  for (let begin = 0; begin < values.length;) {
    // The cells of this turn begin at the first point that is left, with those within reach before it.
    const origin = steps[begin]! - 2 * CELLS_REACH * width;
    const cellOf = (i: number): number => (steps[i]! - origin) / width;
    let end = begin;
    while (end < values.length && cellOf(end) < CELLS_MAX) end += 1;
    const used = Math.min(room, Math.ceil(cellOf(end - 1)) + 2 * CELLS_REACH + 2);
    for (const cells of [sums, counts, wideSums, wideCounts]) cells.fill(0, 0, used);
    while (cellOf(from) < 0) from += 1;
    for (let i = from; i < values.length; i++) {
      const at = cellOf(i);
      const cell = Math.floor(at);
      if (cell + 1 >= used) break;
      const share = at - cell;
      sums[cell]! += (1 - share) * values[i]!;
      counts[cell]! += 1 - share;
      sums[cell + 1]! += share * values[i]!;
      counts[cell + 1]! += share;
    }
    for (let cell = 0; cell < used; cell++) {
      const count = counts[cell]!;
      if (count === 0) continue;
      const sum = sums[cell]!;
      const last = Math.min(used - 1, cell + CELLS_REACH);
      for (let other = Math.max(0, cell - CELLS_REACH); other <= last; other++) {
        const weight = kernel[other < cell ? cell - other : other - cell]!;
        wideSums[other]! += weight * sum;
        wideCounts[other]! += weight * count;
      }
    }
    for (let i = begin; i < end; i++) {
      const at = cellOf(i);
      const cell = Math.floor(at);
      const share = at - cell;
      const between = (cells: Float64Array): number => (1 - share) * cells[cell]! + share * cells[cell + 1]!;
      smoothed[i] = between(wideSums) / between(wideCounts);
    }
    begin = end;
  }
  return smoothed;
}

type Four = [Float64Array, Float64Array, Float64Array, Float64Array];
