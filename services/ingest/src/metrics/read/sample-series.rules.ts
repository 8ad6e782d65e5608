import type { M4Sampler } from "@tidemark/codecs/metrics";

/**
 * Passes points, which arrived in this order, to a sampler. A stretch of points whose steps do not decrease and lie in one bucket is passed as one:
 * the end of the stretch is found by search, and only its values are read one by one. This takes a fraction of the time of passing every point.
 * @param bucketOf the bucket of a step; a higher step is never in a lower bucket
 */
export function sampleSeries(
  sampler: M4Sampler,
  bucketOf: (step: number) => number,
  steps: Float64Array,
  values: Float64Array,
): void {
  eachStretch(bucketOf, steps, (from, to) => {
    // The sampler leaves out steps outside its range one by one.
    if (!sampler.addChunk(statisticsOf(steps, values, from, to))) {
      for (let i = from; i < to; i++) sampler.add(steps[i]!, values[i]!);
    }
  });
}

/** Cuts steps, in the given order, into stretches `[from, to)` that do not decrease and lie in one bucket; the parameters are those of `sampleSeries`. */
export function eachStretch(
  bucketOf: (step: number) => number,
  steps: Float64Array,
  take: (from: number, to: number) => void,
): void {
  const count = steps.length;
  let from = 0;
  let rise = 0;
  while (from < count) {
    if (rise <= from) rise = endOfRise(steps, from);
    const to = endOfBucket(bucketOf, steps, from, rise);
    take(from, to);
    from = to;
  }
}

/** Returns the index at which the steps from `from` on first decrease. */
function endOfRise(steps: Float64Array, from: number): number {
  let at = from + 1;
  for (let step = steps[from]!, next = step; at < steps.length; at++, step = next) {
    next = steps[at]!;
    if (next < step) break;
  }
  return at;
}

/**
 * Returns the index at which the bucket of the first step ends, among steps that do not decrease up to `end`. It searches in distances that double and
 * then halve.
 */
function endOfBucket(bucketOf: (step: number) => number, steps: Float64Array, from: number, end: number): number {
  const bucket = bucketOf(steps[from]!);
  let inside = from;
  let reach = 1;
  while (inside + reach < end && bucketOf(steps[inside + reach]!) === bucket) {
    inside += reach;
    reach *= 2;
  }
  let outside = Math.min(inside + reach, end);
  while (outside - inside > 1) {
    const middle = (inside + outside) >>> 1;
    if (bucketOf(steps[middle]!) === bucket) inside = middle;
    else outside = middle;
  }
  return outside;
}

/** Returns the statistics of points whose steps do not decrease: of equal values the first has the lowest step and arrived first. `min` is NaN where a value is not finite. */
function statisticsOf(steps: Float64Array, values: Float64Array, from: number, to: number) {
  let min = values[from]!;
  let max = min;
  let minAt = from;
  let maxAt = from;
  // NaN where a value is not finite.
  let differences = min - min;
  for (let i = from + 1; i < to; i++) {
    const value = values[i]!;
    if (value < min) {
      min = value;
      minAt = i;
    }
    if (value > max) {
      max = value;
      maxAt = i;
    }
    differences += value - value;
  }
  return {
    count: to - from,
    firstStep: steps[from]!,
    firstValue: values[from]!,
    lastStep: steps[to - 1]!,
    lastValue: values[to - 1]!,
    min: differences === 0 ? min : Number.NaN,
    minStep: steps[minAt]!,
    max,
    maxStep: steps[maxAt]!,
  };
}
