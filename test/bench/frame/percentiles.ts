/** Milliseconds below which half and 95 % of a load's requests were answered. */
export type Percentiles = { readonly p50: number; readonly p95: number };

/** Returns the usual two of latencies in any order; NaN when there are none. */
export function percentilesOf(latencies: readonly number[]): Percentiles {
  const sorted = latencies.toSorted((a, b) => a - b);
  const at = (share: number): number =>
    sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
  return { p50: at(0.5), p95: at(0.95) };
}

/** Returns the median; for an even number of values, the mean of the middle two. NaN when there are none. */
export function medianOf(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const half = (sorted.length - 1) / 2;
  return ((sorted[Math.floor(half)] ?? Number.NaN) + (sorted[Math.ceil(half)] ?? Number.NaN)) / 2;
}
