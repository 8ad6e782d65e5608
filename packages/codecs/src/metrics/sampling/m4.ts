import { standForPoints, type ChunkStatistics } from "../blocks/chunk-statistics.ts";

/** Samples one series for a chart, point by point. */
export type M4Sampler = {
  /** Takes a point, which arrived after all points taken before. Points outside the step range are ignored. */
  readonly add: (step: number, value: number) => void;
  /**
   * Takes all points of a chunk, which arrived after all points taken before, by its statistics and returns true if all its steps are in one bucket
   * and inside the step range and all its values finite, or if it has no points. Otherwise takes nothing and returns false; then the points have to be added one by one.
   */
  readonly addChunk: (statistics: ChunkStatistics) => boolean;
  /** Returns the sample, at most four points per bucket, by step. */
  sample(): { readonly steps: Float64Array; readonly values: Float64Array };
};

/**
 * M4 aggregation (Jugel, Jerzak, Hackenbroich and Markl, "M4: A Visualization-Oriented Time Series Data Aggregation", VLDB 2014): the step
 * range is cut into equal buckets, and the first, last, lowest and highest point of each are kept. A line chart of that width draws the same
 * pixels with these as with all points. A point of step s belongs to bucket floor((s - firstStep) * buckets / (lastStep - firstStep + 1)).
 *
 * Of several candidates the one with the lowest step is first, lowest and highest, the one with the highest step is last; at one step it is
 * the one that arrived first, for last the one that arrived last. Of the kept points of a bucket that share a step only one remains, the
 * earliest in the order first, last, lowest, highest.
 *
 * Values that are not finite may be first and last. They are neither lowest nor highest in a bucket with finite values.
 *
 * `firstStep` and `lastStep` are those of the whole series, which must be known beforehand. Memory depends only on `buckets` (at least 1).
 */
export function createM4Sampler(firstStep: number, lastStep: number, buckets: number): M4Sampler {
  const seen = new Uint8Array(buckets);
  // Four points per bucket: first, last, lowest, highest.
  const steps = new Float64Array(4 * buckets);
  const values = new Float64Array(4 * buckets);

  const put = (at: number, step: number, value: number): void => {
    steps[at] = step;
    values[at] = value;
  };

  const offerFirst = (at: number, step: number, value: number): void => {
    if (step < steps[at]!) put(at, step, value);
  };
  const offerLast = (at: number, step: number, value: number): void => {
    if (step >= steps[at]!) put(at, step, value);
  };
  const offerLowest = (at: number, step: number, value: number): void => {
    const lowest = values[at]!;
    if (value < lowest || lowest - lowest !== 0 || (value === lowest && step < steps[at]!)) put(at, step, value);
  };
  const offerHighest = (at: number, step: number, value: number): void => {
    const highest = values[at]!;
    if (value > highest || highest - highest !== 0 || (value === highest && step < steps[at]!)) put(at, step, value);
  };

  return {
    add(step, value) {
      if (step < firstStep || step > lastStep) return;
      const bucket = bucketOf(step, firstStep, lastStep, buckets);
      const at = 4 * bucket;
      if (seen[bucket] === 0) {
        seen[bucket] = 1;
        for (let i = at; i < at + 4; i++) put(i, step, value);
        return;
      }
      offerFirst(at, step, value);
      offerLast(at + 1, step, value);
      if (value - value !== 0) return;
      offerLowest(at + 2, step, value);
      offerHighest(at + 3, step, value);
    },
    addChunk(statistics) {
      if (statistics.count === 0) return true;
      if (!standForPoints(statistics)) return false;
      if (statistics.firstStep < firstStep || statistics.lastStep > lastStep) return false;
      const bucket = bucketOf(statistics.firstStep, firstStep, lastStep, buckets);
      if (bucketOf(statistics.lastStep, firstStep, lastStep, buckets) !== bucket) return false;
      const at = 4 * bucket;
      if (seen[bucket] === 0) {
        seen[bucket] = 1;
        put(at, statistics.firstStep, statistics.firstValue);
        put(at + 1, statistics.lastStep, statistics.lastValue);
        put(at + 2, statistics.minStep, statistics.min);
        put(at + 3, statistics.maxStep, statistics.max);
        return true;
      }
      offerFirst(at, statistics.firstStep, statistics.firstValue);
      offerLast(at + 1, statistics.lastStep, statistics.lastValue);
      offerLowest(at + 2, statistics.minStep, statistics.min);
      offerHighest(at + 3, statistics.maxStep, statistics.max);
      return true;
    },
    sample() {
      const keptSteps = new Float64Array(4 * buckets);
      const keptValues = new Float64Array(4 * buckets);
      let kept = 0;
      for (let bucket = 0; bucket < buckets; bucket++) {
        if (seen[bucket] === 0) continue;
        const from = kept;
        // In the order first, last, lowest, highest, each inserted by its step among those before it.
        for (let candidate = 4 * bucket; candidate < 4 * bucket + 4; candidate++) {
          const step = steps[candidate]!;
          let at = kept;
          while (at > from && keptSteps[at - 1]! > step) at--;
          if (at > from && keptSteps[at - 1] === step) continue;
          for (let i = kept; i > at; i--) {
            keptSteps[i] = keptSteps[i - 1]!;
            keptValues[i] = keptValues[i - 1]!;
          }
          keptSteps[at] = step;
          keptValues[at] = values[candidate]!;
          kept += 1;
        }
      }
      return { steps: keptSteps.slice(0, kept), values: keptValues.slice(0, kept) };
    },
  };
}

/**
 * Returns the bucket, counted from 0, of a step in `[firstStep, lastStep]` if that range is cut into `buckets`. A higher step is never in a
 * lower bucket, so all steps between two steps of a bucket are in that bucket.
 */
export function bucketOf(step: number, firstStep: number, lastStep: number, buckets: number): number {
  if (firstStep === lastStep) return 0;
  // If steps are so large that their differences are not exact, the quotient may be beyond the last bucket.
  return Math.min(Math.floor(((step - firstStep) * buckets) / (lastStep - firstStep + 1)), buckets - 1);
}
