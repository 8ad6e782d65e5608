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
export function gaussianMean(steps: Float64Array, values: Float64Array, deviation: number): Float64Array {
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
