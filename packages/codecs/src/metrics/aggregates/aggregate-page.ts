import type { MetricColumns } from "../columns/metric-columns.ts";
import {
  AGGREGATES_PER_PAGE,
  NUMBERS_PER_AGGREGATE,
  NUMBERS_PER_NON_FINITE,
  type NON_FINITE_NUMBERS,
} from "../storage-layout.ts";
import { aggregatesOfColumns, type KeyAggregate } from "./key-aggregates.ts";

/*
 * The aggregates of a run's keys are stored in pages: arrays of doubles with ten numbers for each key (AGGREGATE_NUMBERS). Writes merge into
 * pages without making an object for each key, because a request may have a thousand keys. A page with values that are not finite has a second array with
 * three numbers for each key (NON_FINITE_NUMBERS); other pages have none, so such values cost nothing where there are none.
 */

/** The aggregates of keys as numbers: ten for each, and three for each where any key has values that are not finite. */
export type AggregateNumbers = { readonly numbers: Float64Array; readonly nonFinite: Float64Array | null };

const PAGE_BITS = 31 - Math.clz32(AGGREGATES_PER_PAGE);

/** The number of the page that holds the aggregate of a key. */
export function aggregatePageOf(keyId: number): number {
  return keyId >>> PAGE_BITS;
}

/** Where the aggregate of a key starts in its page, as an index of its first number. */
export function aggregateStartOf(keyId: number): number {
  return (keyId & (AGGREGATES_PER_PAGE - 1)) * NUMBERS_PER_AGGREGATE;
}

/** Where the numbers of a key start in the second array of its page. */
export function nonFiniteStartOf(keyId: number): number {
  return (keyId & (AGGREGATES_PER_PAGE - 1)) * NUMBERS_PER_NON_FINITE;
}

/** Reads the finite part of an aggregate from its numbers, which `numberAt` returns by their index from 0. */
export function readAggregate(numberAt: (index: number) => number): FiniteAggregate {
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

/** The numbers of an aggregate that every page has. */
type FiniteAggregate = Omit<KeyAggregate, "key" | (typeof NON_FINITE_NUMBERS)[number]>;

/** Returns the aggregates of all keys of a batch, in the order of the keys. */
export function aggregateNumbersOf(columns: MetricColumns): AggregateNumbers {
  const numbers = new Float64Array(NUMBERS_PER_AGGREGATE * columns.keys.length);
  if (columns.steps.length === 1) return aggregatesOfOnePoint(numbers, columns.steps[0]!, columns.values);
  let at = 0;
  let nonFinite: Float64Array | null = null;
  for (const [key, aggregate] of aggregatesOfColumns(columns).entries()) {
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
    if (aggregate.nonFinite === 0) continue;
    nonFinite ??= new Float64Array(NUMBERS_PER_NON_FINITE * columns.keys.length);
    nonFinite[NUMBERS_PER_NON_FINITE * key] = aggregate.nonFinite;
    nonFinite[NUMBERS_PER_NON_FINITE * key + 1] = aggregate.nonFiniteFirstStep;
    nonFinite[NUMBERS_PER_NON_FINITE * key + 2] = aggregate.nonFiniteStep;
  }
  return { numbers, nonFinite };
}

function aggregatesOfOnePoint(numbers: Float64Array, step: number, values: Float64Array): AggregateNumbers {
  let nonFinite: Float64Array | null = null;
  for (let key = 0, at = 0; key < values.length; key++, at += NUMBERS_PER_AGGREGATE) {
    const value = values[key]!;
    if (value - value !== 0) {
      numbers.fill(Number.NaN, at + 1, at + NUMBERS_PER_AGGREGATE);
      nonFinite ??= new Float64Array(NUMBERS_PER_NON_FINITE * values.length);
      nonFinite.set([1, step, step], NUMBERS_PER_NON_FINITE * key);
      continue;
    }
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
  return { numbers, nonFinite };
}

/**
 * Merges the aggregate at index `from` of `added` into the one at index `at` of `page`; the values behind `added` arrived later. An aggregate
 * with a count of 0 has no finite values yet. Means and squared deviations follow Chan, Golub and LeVeque ("Updating formulae and a pairwise algorithm for
 * computing sample variances", Stanford STAN-CS-79-773, 1979):
 *
 *     delta = b.mean - a.mean
 *     mean  = a.mean + delta * (b.count / count)
 *     m2    = a.m2 + b.m2 + delta * delta * (a.count * (b.count / count))
 *
 * `m2` becomes Infinity where it is beyond a double; of an aggregate with finite values nothing ever becomes NaN.
 */
export function mergeAggregate(page: Float64Array, at: number, added: Float64Array, from: number): void {
  const count = page[at]!;
  if (count === 0) {
    for (let i = 0; i < NUMBERS_PER_AGGREGATE; i++) page[at + i] = added[from + i]!;
    return;
  }
  const addedCount = added[from]!;
  if (addedCount === 0) return;
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

/** Merges what is known of values that are not finite, as {@link mergeAggregate} does; zeros mean that there are none. */
export function mergeNonFinite(page: Float64Array, at: number, added: Float64Array, from: number): void {
  const count = page[at]!;
  const addedCount = added[from]!;
  if (addedCount === 0) return;
  page[at] = count + addedCount;
  page[at + 1] = count === 0 ? added[from + 1]! : Math.min(page[at + 1]!, added[from + 1]!);
  page[at + 2] = Math.max(page[at + 2]!, added[from + 2]!);
}
