import {
  headsOfColumns as aggregatesOfColumns,
  NUMBERS_PER_HEAD as NUMBERS_PER_AGGREGATE,
  type MetricColumns,
} from "@tidemark/metric-codec";

/*
 * Key aggregates as aggregate pages hold them: ten numbers each (count, mean, m2, min, minStep, max, maxStep, latest, latestStep, firstStep),
 * one after another in one array. Plain arithmetic on one array, because a large write merges a hundred thousand numbers.
 */

/** Returns the aggregates of a write: ten numbers for each of its keys, in the order of the keys. */
export function aggregateNumbersOf(columns: MetricColumns): Float64Array {
  const numbers = new Float64Array(NUMBERS_PER_AGGREGATE * columns.keys.length);
  if (columns.steps.length === 1) return fillOfOnePoint(numbers, columns.steps[0]!, columns.values);
  let at = 0;
  for (const aggregate of aggregatesOfColumns(columns)) {
    numbers[at] = aggregate.count;
    numbers[at + 1] = aggregate.mean;
    numbers[at + 2] = aggregate.m2;
    numbers[at + 3] = aggregate.min;
    numbers[at + 4] = aggregate.minStep;
    numbers[at + 5] = aggregate.max;
    numbers[at + 6] = aggregate.maxStep;
    numbers[at + 7] = aggregate.latest;
    numbers[at + 8] = aggregate.latestStep;
    numbers[at + 9] = aggregate.firstStep;
    at += NUMBERS_PER_AGGREGATE;
  }
  return numbers;
}

function fillOfOnePoint(numbers: Float64Array, step: number, values: Float64Array): Float64Array {
  for (let key = 0, at = 0; key < values.length; key++, at += NUMBERS_PER_AGGREGATE) {
    const value = values[key]!;
    numbers[at] = 1;
    // A mean is a sum, which is never -0.
    numbers[at + 1] = value + 0;
    numbers[at + 3] = value;
    numbers[at + 4] = step;
    numbers[at + 5] = value;
    numbers[at + 6] = step;
    numbers[at + 7] = value;
    numbers[at + 8] = step;
    numbers[at + 9] = step;
  }
  return numbers;
}

/**
 * Merges the aggregate at `from` of `added`, whose values arrived later, into the aggregate at `at` of `page`. An aggregate of zeros has no
 * values yet. Means and squared deviations are merged after Chan, Golub and LeVeque ("Updating formulae and a pairwise algorithm for computing
 * sample variances", Stanford STAN-CS-79-773, 1979):
 *
 *     count = a.count + b.count
 *     delta = b.mean - a.mean
 *     mean  = a.mean + delta * (b.count / count)
 *     m2    = a.m2 + b.m2 + delta * delta * (a.count * (b.count / count))
 *
 * Of equal minima (maxima) the lowest step counts, of values at the latest step the one that arrived last. `m2` becomes Infinity where it is
 * beyond a double; no number ever becomes NaN.
 */
export function mergeAggregate(page: Float64Array, at: number, added: Float64Array, from: number): void {
  const count = page[at]!;
  if (count === 0) {
    for (let i = 0; i < NUMBERS_PER_AGGREGATE; i++) page[at + i] = added[from + i]!;
    return;
  }
  const addedCount = added[from]!;
  const total = count + addedCount;
  const share = addedCount / total;
  const mean = page[at + 1]!;
  const addedMean = added[from + 1]!;
  const delta = addedMean - mean;
  page[at] = total;
  // The difference of means at opposite ends of the doubles is beyond a double.
  page[at + 1] = Number.isFinite(delta) ? mean + delta * share : mean * (1 - share) + addedMean * share;
  page[at + 2] = page[at + 2]! + added[from + 2]! + delta * delta * (count * share);
  const min = added[from + 3]!;
  const minStep = added[from + 4]!;
  if (min < page[at + 3]! || (min === page[at + 3]! && minStep < page[at + 4]!)) {
    page[at + 3] = min;
    page[at + 4] = minStep;
  }
  const max = added[from + 5]!;
  const maxStep = added[from + 6]!;
  if (max > page[at + 5]! || (max === page[at + 5]! && maxStep < page[at + 6]!)) {
    page[at + 5] = max;
    page[at + 6] = maxStep;
  }
  if (added[from + 8]! >= page[at + 8]!) {
    page[at + 7] = added[from + 7]!;
    page[at + 8] = added[from + 8]!;
  }
  if (added[from + 9]! < page[at + 9]!) page[at + 9] = added[from + 9]!;
}
