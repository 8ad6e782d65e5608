/** The values of one step taken together, which are finite; so is every number. */
export type RankReducers = {
  readonly mean: number;
  readonly weightedMean: number;
  readonly min: number;
  readonly max: number;
  /** Of the population. */
  readonly stddev: number;
  readonly p05: number;
  readonly p50: number;
  readonly p95: number;
};

/**
 * Reduces at least one value, each with a weight; writes to `zScores`, of the same length, how many standard deviations each value lies above the
 * mean.
 */
export type RankReducer = (values: Float64Array, weights: Float64Array, zScores: Float64Array) => RankReducers;

/**
 * Creates a reducer for groups of at most `sizeMax` values, which keeps its working memory. It divides values and weights by a power of two near
 * the largest of them, which rounds only numbers too small to matter next to it. So no sum or square leaves the range of a double, and the
 * results, none of which is larger than the largest value, are never infinite.
 */
export function createRankReducer(sizeMax: number): RankReducer {
  const sortedAll = new Float64Array(sizeMax);
  const scaled = new Float64Array(sizeMax);
  const terms = new Float64Array(sizeMax);
  const shares = new Float64Array(sizeMax);

  return (values, weights, zScores) => {
    const count = values.length;
    const sorted = sortedAll.subarray(0, count);
    sorted.set(values);
    sorted.sort();
    const min = sorted[0]!;
    const max = sorted[count - 1]!;
    const p05 = sorted[percentileAt(count, 5)]!;
    const p50 = sorted[percentileAt(count, 50)]!;
    const p95 = sorted[percentileAt(count, 95)]!;
    if (min === max) {
      zScores.fill(0);
      return { mean: min, weightedMean: min, min, max, stddev: 0, p05, p50, p95 };
    }

    const unit = powerNear(Math.max(-min, max));
    const within = (value: number): number => Math.min(Math.max(value, min), max);
    for (let i = 0; i < count; i++) scaled[i] = values[i]! / unit;
    const mean = sum(scaled, count) / count;
    for (let i = 0; i < count; i++) terms[i] = scaled[i]! - mean;
    // The mean was rounded; the remainder that this leaves in the sum of the deviations is subtracted again.
    const rest = sum(terms, count);
    for (let i = 0; i < count; i++) terms[i]! *= terms[i]!;
    const stddev = Math.sqrt(Math.max(0, (sum(terms, count) - (rest * rest) / count) / count));
    for (let i = 0; i < count; i++) zScores[i] = stddev === 0 ? 0 : (scaled[i]! - mean) / stddev;

    let heaviest = 0;
    for (const weight of weights) if (weight > heaviest) heaviest = weight;
    const weightUnit = powerNear(heaviest);
    for (let i = 0; i < count; i++) {
      shares[i] = weights[i]! / weightUnit;
      terms[i] = scaled[i]! * shares[i]!;
    }
    const weightedMean = sum(terms, count) / sum(shares, count);
    return {
      mean: within(mean * unit),
      weightedMean: within(weightedMean * unit),
      min,
      max,
      // A deviation never exceeds half of the range; rounding must not push it beyond.
      stddev: Math.min(stddev * unit, max / 2 - min / 2),
      p05,
      p50,
      p95,
    };
  };
}

/** Returns the index of a percentile among `count` sorted values, halves rounded up; in whole numbers, so that halves are exact. */
function percentileAt(count: number, percent: number): number {
  return Math.floor(((count - 1) * percent + 50) / 100);
}

/** Returns a power of two near a number above 0. */
function powerNear(number: number): number {
  return 2 ** Math.min(1023, Math.floor(Math.log2(number)));
}

/** Sums terms and keeps what each addition rounds off (Neumaier, "Rundungsfehleranalyse einiger Verfahren zur Summation endlicher Summen", 1974). */
function sum(terms: Float64Array, count: number): number {
  let total = 0;
  let lost = 0;
  for (let i = 0; i < count; i++) {
    const term = terms[i]!;
    const next = total + term;
    lost += Math.abs(total) >= Math.abs(term) ? total - next + term : term - next + total;
    total = next;
  }
  return total + lost;
}
