/** How two columns correlate over the runs that have both. Undefined where one of them does not vary, or has fewer than two runs. */
export type Correlation = {
  /** Runs that have both. */
  readonly runs: number;
  /** Pearson's coefficient of the values, -1 to 1. */
  readonly pearson: number | undefined;
  /** Spearman's coefficient: Pearson's of the ranks, equal values sharing the mean of their ranks. */
  readonly spearman: number | undefined;
};

/** Correlates two columns of the same runs; NaN where a run has no number. */
export function correlate(x: Float64Array, y: Float64Array): Correlation {
  let runs = 0;
  const left = new Float64Array(x.length);
  const right = new Float64Array(x.length);
  for (let i = 0; i < x.length; i += 1) {
    if (!Number.isFinite(x[i]) || !Number.isFinite(y[i])) continue;
    left[runs] = x[i]!;
    right[runs] = y[i]!;
    runs += 1;
  }
  const [a, b] = [left.subarray(0, runs), right.subarray(0, runs)];
  return { runs, pearson: pearson(a, b), spearman: pearson(ranks(a), ranks(b)) };
}

/**
 * Returns Pearson's coefficient in two passes: sums of products of deviations from the means, which keeps all digits where the values are far
 * from 0. Deviations are scaled to at most 1, so that no square is beyond a double.
 */
function pearson(x: Float64Array, y: Float64Array): number | undefined {
  const [a, b] = [centered(x), centered(y)];
  let products = 0;
  let squaresA = 0;
  let squaresB = 0;
  for (let i = 0; i < a.length; i += 1) {
    products += a[i]! * b[i]!;
    squaresA += a[i]! * a[i]!;
    squaresB += b[i]! * b[i]!;
  }
  if (squaresA === 0 || squaresB === 0) return undefined;
  return Math.max(-1, Math.min(1, products / Math.sqrt(squaresA * squaresB)));
}

/**
 * Returns the deviations from the mean, scaled so that the largest is 1 or -1; zeros where all values are equal. They are taken from distances to the
 * first value, halved so that none is infinite.
 */
function centered(values: Float64Array): Float64Array {
  const first = values[0] ?? 0;
  const distances = values.map((value) => value / 2 - first / 2);
  const largest = largestOf(distances);
  if (largest === 0) return distances;
  const scaled = distances.map((distance) => distance / largest);
  let sum = 0;
  for (const value of scaled) sum += value;
  const mean = sum / scaled.length;
  const widest = largestOf(scaled.map((value) => value - mean));
  return scaled.map((value) => (value - mean) / widest);
}

function largestOf(values: Float64Array): number {
  let largest = 0;
  for (const value of values) largest = Math.max(largest, Math.abs(value));
  return largest;
}

/** Returns the rank of each value, from 1 on; equal values share the mean of their ranks. */
function ranks(values: Float64Array): Float64Array {
  const order = Uint32Array.from(values, (_value, i) => i).sort((a, b) => values[a]! - values[b]!);
  const ranked = new Float64Array(values.length);
  for (let from = 0; from < order.length;) {
    let end = from + 1;
    while (end < order.length && values[order[end]!] === values[order[from]!]) end += 1;
    for (let i = from; i < end; i += 1) ranked[order[i]!] = (from + 1 + end) / 2;
    from = end;
  }
  return ranked;
}
