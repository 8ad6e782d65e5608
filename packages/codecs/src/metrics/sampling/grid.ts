/** A range of numbers that is cut into parts of equal width: of steps, or of what else a chart has from left to right. */
export type Grid = {
  /** Where the first part begins. */
  readonly low: number;
  /** The width of all parts together. */
  readonly span: number;
  /** How many parts there are, at least 1. */
  readonly buckets: number;
};

/**
 * Returns the grid of a range. Between whole numbers that are at least as many as the parts, the last one has a width too, as in M4, so that a
 * thousand whole steps in ten parts are a hundred in each and all edges are whole. Otherwise the range is cut unchanged, and its end is in the last part.
 */
export function gridOf(low: number, high: number, buckets: number): Grid {
  const isWhole = Number.isInteger(low) && Number.isInteger(high) && high - low + 1 >= buckets;
  return { low, span: isWhole ? high - low + 1 : high - low, buckets };
}

/** Returns the part, from 0, of a number of the range. A higher number is never in a lower part. */
export function bucketIndex({ low, span, buckets }: Grid, at: number): number {
  if (span === 0) return 0;
  // Where differences are not exact any more, the quotient may be beyond the last part.
  const part = ((at - low) * buckets) / span;
  return part < buckets ? Math.floor(part) : buckets - 1;
}

/** Returns where a part begins. */
export function leftEdge({ low, span, buckets }: Grid, place: number): number {
  return low + (place * span) / buckets;
}
