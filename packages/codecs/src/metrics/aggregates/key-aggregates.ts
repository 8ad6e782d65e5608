import { isMinimizeKey } from "@tidemark/values/metric-direction";
import { valueCountOf, type MetricColumns } from "../columns/metric-columns.ts";
import { areFinite, finitePoints } from "../numbers/finite.ts";

/**
 * What a run's values of one key add up to, in one batch or in any number of them.
 *
 * - `min`, `max` with the lowest step at which each was seen; zeros of both signs are one value, shown as it was written there.
 * - `mean`, and `m2` the sum of the squared deviations from it; Infinity where that sum is beyond a double, never NaN.
 * - `latest` is the value at the highest step, `latestStep`; of several at that step the one that arrived last.
 * - `firstStep` is the lowest step.
 * - All of these are over the finite values. Where there is none, `count` is 0, and the other nine are NaN.
 * - `nonFinite` is the number of the other values (NaN and infinities), `nonFiniteFirstStep` and `nonFiniteStep` their lowest and highest step; all are 0
 *   where there is none.
 */
export type KeyAggregate = {
  readonly key: string;
  readonly count: number;
  readonly min: number;
  readonly minStep: number;
  readonly max: number;
  readonly maxStep: number;
  readonly mean: number;
  readonly m2: number;
  readonly latest: number;
  readonly latestStep: number;
  readonly firstStep: number;
  readonly nonFinite: number;
  readonly nonFiniteFirstStep: number;
  readonly nonFiniteStep: number;
};

const ALL_FINITE = { nonFinite: 0, nonFiniteFirstStep: 0, nonFiniteStep: 0 };

/** Returns the aggregate of each key, in the order of the keys (by their UTF-8 bytes). Steps must be finite. */
export function aggregatesOfColumns(columns: MetricColumns): KeyAggregate[] {
  const { keys, steps, offsets, pointIndexes, values } = columns;
  const dense = offsets.length === 0;
  const ownSteps = dense ? steps : new Float64Array(steps.length);
  return keys.map((key, i) => {
    const count = valueCountOf(columns, i);
    const from = dense ? i * count : offsets[i]!;
    if (!dense) for (let j = 0; j < count; j++) ownSteps[j] = steps[pointIndexes[from + j]!]!;
    return aggregateOf(key, values, from, count, ownSteps);
  });
}

/** Returns the population variance of an aggregate's values: 0 for one value, Infinity if it is beyond a double. */
export function populationVariance(aggregate: Pick<KeyAggregate, "count" | "m2">): number {
  return aggregate.m2 / aggregate.count;
}

/**
 * Aggregates the `count` values from index `from`, whose steps are the first `count` of `steps`. Two passes: the second, around the mean,
 * with the correction for the mean's own rounding (Chan, Golub and LeVeque, "Algorithms for computing the sample variance", 1983, equation
 * 1.7), is more exact than updating mean and variance value by value and needs no division per value. Sums start from the first value, so that the
 * mean of equal values is exactly that value and their variance 0.
 */
function aggregateOf(
  key: string,
  values: Float64Array,
  from: number,
  count: number,
  steps: Float64Array,
): KeyAggregate {
  const pivot = values[from]!;
  const start = steps[0]!;
  let min = pivot;
  let minStep = start;
  let max = pivot;
  let maxStep = start;
  let latest = pivot;
  let latestStep = start;
  let firstStep = start;
  let sum = 0;
  for (let i = 0; i < count; i++) {
    const value = values[from + i]!;
    const step = steps[i]!;
    sum += value - pivot;
    if (value < min || (value === min && step < minStep)) {
      min = value;
      minStep = step;
    }
    if (value > max || (value === max && step < maxStep)) {
      max = value;
      maxStep = step;
    }
    if (step >= latestStep) {
      latest = value;
      latestStep = step;
    }
    if (step < firstStep) firstStep = step;
  }
  // A value that is not finite makes the sum such a number too.
  const isSummed = Number.isFinite(sum);
  if (!isSummed && !areFinite(values, from, from + count))
    return aggregateOfMixed(key, values.subarray(from, from + count), steps);
  const mean = isSummed ? pivot + sum / count : meanOfHuge(values, from, count);
  const m2 = squaredDeviations(values, from, count, mean);
  return { key, count, min, minStep, max, maxStep, mean, m2, latest, latestStep, firstStep, ...ALL_FINITE };
}

/** Aggregates values of which some are not finite. */
function aggregateOfMixed(key: string, values: Float64Array, steps: Float64Array): KeyAggregate {
  const finite = finitePoints(steps, values);
  const count = finite.values.length;
  const found = count === 0 ? aggregateOfNone(key) : aggregateOf(key, finite.values, 0, count, finite.steps);
  let [nonFinite, nonFiniteFirstStep, nonFiniteStep] = [0, Infinity, 0];
  for (let i = 0; i < values.length; i++) {
    if (Number.isFinite(values[i])) continue;
    nonFinite += 1;
    nonFiniteFirstStep = Math.min(nonFiniteFirstStep, steps[i]!);
    nonFiniteStep = Math.max(nonFiniteStep, steps[i]!);
  }
  return { ...found, nonFinite, nonFiniteFirstStep, nonFiniteStep };
}

function aggregateOfNone(key: string): KeyAggregate {
  const none = Number.NaN;
  return {
    key,
    count: 0,
    min: none,
    minStep: none,
    max: none,
    maxStep: none,
    mean: none,
    m2: none,
    latest: none,
    latestStep: none,
    firstStep: none,
    ...ALL_FINITE,
  };
}

function squaredDeviations(values: Float64Array, from: number, count: number, mean: number): number {
  let deviations = 0;
  let squares = 0;
  for (let i = from; i < from + count; i++) {
    const deviation = values[i]! - mean;
    deviations += deviation;
    squares += deviation * deviation;
  }
  if (!Number.isFinite(squares)) return Infinity;
  return Math.max(0, squares - (deviations * deviations) / count);
}

/** Returns the mean of values whose sum is beyond a double. */
function meanOfHuge(values: Float64Array, from: number, count: number): number {
  let mean = 0;
  for (let i = from; i < from + count; i++) mean += values[i]! / count;
  return mean;
}

/** Returns the best value of a key and the lowest step at which it was seen: the minimum if less is better, else the maximum. */
export function bestOf(
  aggregate: Pick<KeyAggregate, "min" | "minStep" | "max" | "maxStep">,
  key: string,
): { best: number; bestStep: number } {
  return isMinimizeKey(key)
    ? { best: aggregate.min, bestStep: aggregate.minStep }
    : { best: aggregate.max, bestStep: aggregate.maxStep };
}
