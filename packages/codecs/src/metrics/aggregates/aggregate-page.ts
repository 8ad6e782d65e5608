import type { MetricColumns } from "../columns/metric-columns.ts";
import { AGGREGATES_PER_PAGE, NUMBERS_PER_AGGREGATE } from "../storage-layout.ts";
import { aggregatesOfColumns, type KeyAggregate } from "./key-aggregates.ts";

/*
 * The aggregates of a run's keys are stored in pages: arrays of doubles with ten numbers for each key (AGGREGATE_NUMBERS). Writes merge into
 * pages without making an object for each key, because a request may have a thousand keys.
 */

const PAGE_BITS = 31 - Math.clz32(AGGREGATES_PER_PAGE);

/** The number of the page that holds the aggregate of a key. */
export function aggregatePageOf(keyId: number): number {
  return keyId >>> PAGE_BITS;
}

/** Where the aggregate of a key starts in its page, as an index of its first number. */
export function aggregateStartOf(keyId: number): number {
  return (keyId & (AGGREGATES_PER_PAGE - 1)) * NUMBERS_PER_AGGREGATE;
}

/** Reads an aggregate from its numbers, which `numberAt` returns by their index from 0. */
export function readAggregate(numberAt: (index: number) => number): Omit<KeyAggregate, "key"> {
  return {
    count: numberAt(0),
    mean: numberAt(1),
    m2: numberAt(2),
    min: numberAt(3),
    minStep: numberAt(4),
    max: numberAt(5),
    maxStep: numberAt(6),
    latest: numberAt(7),
    latestStep: numberAt(8),
    firstStep: numberAt(9),
  };
}

/** Returns the aggregates of all keys of a batch as numbers, ten for each key, in the order of the keys. */
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
 * Merges the aggregate at index `from` of `added` into the one at index `at` of `page`; the values behind `added` arrived later. An aggregate
 * of zeros has no values yet. Means and squared deviations follow Chan, Golub and LeVeque ("Updating formulae and a pairwise algorithm for
 * computing sample variances", Stanford STAN-CS-79-773, 1979):
 *
 *     delta = b.mean - a.mean
 *     mean  = a.mean + delta * (b.count / count)
 *     m2    = a.m2 + b.m2 + delta * delta * (a.count * (b.count / count))
 *
 * `m2` becomes Infinity where it is beyond a double; nothing ever becomes NaN.
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
  // Means at opposite ends of the doubles are further apart than a double can say.
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
