/** Milliseconds below which half, 95 % and 99 % of a load's requests were answered. */
export type Percentiles = { readonly p50: number; readonly p95: number; readonly p99: number };

/** The value below which the share (0 to 1) of the numbers lies; they are sorted. NaN when there are none. */
export function percentile(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

/** The usual three of latencies in any order. */
export function percentilesOf(latencies: readonly number[]): Percentiles {
  const sorted = latencies.toSorted((a, b) => a - b);
  return { p50: percentile(sorted, 0.5), p95: percentile(sorted, 0.95), p99: percentile(sorted, 0.99) };
}

/** Median and range of the same measurement taken several times. */
export type Spread = { readonly median: number; readonly min: number; readonly max: number };

/** NaN throughout when there are no values. The median of an even number of values is the mean of the middle two. */
export function spreadOf(values: readonly number[]): Spread {
  const sorted = values.toSorted((a, b) => a - b);
  const half = (sorted.length - 1) / 2;
  const middle = ((sorted[Math.floor(half)] ?? Number.NaN) + (sorted[Math.ceil(half)] ?? Number.NaN)) / 2;
  return { median: middle, min: sorted[0] ?? Number.NaN, max: sorted.at(-1) ?? Number.NaN };
}
