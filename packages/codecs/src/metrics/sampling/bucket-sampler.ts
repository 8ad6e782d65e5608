import { standForPoints, type ChunkStatistics, type SummedChunk } from "../blocks/chunk-statistics.ts";
import { addSum, addToSum, meanOfSum, SUM_NUMBERS } from "../numbers/exact-sum.ts";
import { finitePoints } from "../numbers/finite.ts";

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

/**
 * The chart data of the parts of a series that have points, as columns in the order of the parts, over the finite values. A part without a finite value has a
 * count of 0 and NaN in the columns of values.
 */
export type BucketColumns = {
  /** Where each part begins. */
  readonly step: Float64Array;
  readonly min: Float64Array;
  readonly max: Float64Array;
  readonly mean: Float64Array;
  /** How many finite values it has. */
  readonly count: Float64Array;
  /** The value at its lowest step, the earliest arrival among equals. */
  readonly first: Float64Array;
  /** The value at its highest step, the latest arrival among equals. */
  readonly last: Float64Array;
  /** How many values it has that are not finite. Empty where no part has any. */
  readonly nonFinite: Float64Array;
};

/** Summarizes the points of one series by the parts of a grid. */
export type BucketSampler = {
  /**
   * Takes points `[from, to)`, which arrived after all that were taken before, lie in one part of the grid and have steps that do not fall.
   */
  readonly addStretch: (steps: Float64Array, values: Float64Array, from: number, to: number) => void;
  /**
   * Takes all points of a chunk, which arrived after all that were taken before, by its statistics, and returns true, if they lie in one part and all values are
   * finite; otherwise takes nothing and returns false.
   */
  readonly addChunk: (chunk: SummedChunk) => boolean;
  /** Returns how many points were taken. */
  count(): number;
  take(): BucketColumns;
};

/** Creates a sampler, whose memory depends on the grid alone. All points that it gets lie in the range of the grid. */
export function createBucketSampler(grid: Grid): BucketSampler {
  const { buckets } = grid;
  const column = (): Float64Array => new Float64Array(buckets);
  const [counts, mins, maxs] = [column(), column(), column()];
  const [firstSteps, firsts, lastSteps, lasts] = [column(), column(), column(), column()];
  const sums = new Float64Array(SUM_NUMBERS * buckets);
  let nonFinite: Float64Array | undefined;
  let total = 0;

  /** Merges the statistics of a group of points of one part, except the sum. */
  const merge = (at: number, group: Omit<ChunkStatistics, "minStep" | "maxStep">): void => {
    const { count, firstStep, firstValue, lastStep, lastValue, min, max } = group;
    total += count;
    const isNew = counts[at] === 0;
    counts[at]! += count;
    if (isNew || min < mins[at]!) mins[at] = min;
    if (isNew || max > maxs[at]!) maxs[at] = max;
    if (isNew || firstStep < firstSteps[at]!) {
      firstSteps[at] = firstStep;
      firsts[at] = firstValue;
    }
    if (isNew || lastStep >= lastSteps[at]!) {
      lastSteps[at] = lastStep;
      lasts[at] = lastValue;
    }
  };

  /** Takes a stretch with values that are not finite. */
  const addMixed = (steps: Float64Array, values: Float64Array, from: number, to: number): void => {
    const finite = finitePoints(steps.subarray(from, to), values.subarray(from, to));
    const count = finite.values.length;
    nonFinite ??= column();
    nonFinite[bucketIndex(grid, steps[from]!)]! += to - from - count;
    total += to - from - count;
    if (count > 0) addStretch(finite.steps, finite.values, 0, count);
  };

  const addStretch: BucketSampler["addStretch"] = (steps, values, from, to) => {
    let min = values[from]!;
    let max = min;
    // NaN where a value is not finite.
    let differences = min - min;
    for (let i = from + 1; i < to; i++) {
      const value = values[i]!;
      if (value < min) min = value;
      if (value > max) max = value;
      differences += value - value;
    }
    if (differences !== 0) {
      addMixed(steps, values, from, to);
      return;
    }
    const at = bucketIndex(grid, steps[from]!);
    addToSum(sums, SUM_NUMBERS * at, values, from, to);
    merge(at, {
      count: to - from,
      firstStep: steps[from]!,
      firstValue: values[from]!,
      lastStep: steps[to - 1]!,
      lastValue: values[to - 1]!,
      min,
      max,
    });
  };

  return {
    addStretch,
    addChunk(chunk) {
      if (chunk.count === 0) return true;
      if (!standForPoints(chunk)) return false;
      const at = bucketIndex(grid, chunk.firstStep);
      if (bucketIndex(grid, chunk.lastStep) !== at) return false;
      addSum(sums, SUM_NUMBERS * at, chunk.sum, chunk.sumRest);
      merge(at, chunk);
      return true;
    },
    count: () => total,
    take() {
      const places = new Uint32Array(buckets);
      let found = 0;
      for (let at = 0; at < buckets; at++) if (counts[at]! > 0 || (nonFinite?.[at] ?? 0) > 0) places[found++] = at;
      const pick = (of: (at: number) => number): Float64Array => {
        const picked = new Float64Array(found);
        for (let i = 0; i < found; i++) picked[i] = of(places[i]!);
        return picked;
      };
      const pickValue = (of: (at: number) => number): Float64Array =>
        pick((at) => (counts[at] === 0 ? Number.NaN : of(at)));
      return {
        step: pick((at) => leftEdge(grid, at)),
        min: pickValue((at) => mins[at]!),
        max: pickValue((at) => maxs[at]!),
        mean: pickValue((at) =>
          meanOfSum(sums[SUM_NUMBERS * at]!, sums[SUM_NUMBERS * at + 1]!, counts[at]!, mins[at]!, maxs[at]!),
        ),
        count: pick((at) => counts[at]!),
        first: pickValue((at) => firsts[at]!),
        last: pickValue((at) => lasts[at]!),
        nonFinite: nonFinite === undefined ? new Float64Array(0) : pick((at) => nonFinite![at]!),
      };
    },
  };
}
