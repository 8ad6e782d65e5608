import { aggregatesOfColumns, NUMBERS_PER_AGGREGATE, type MetricColumns } from "@tidemark/metric-codec";

/** What the columns say about each of their keys, in the order of the keys, ten numbers each. */
export function headNumbersOf(columns: MetricColumns): Float64Array {
  const numbers = new Float64Array(NUMBERS_PER_AGGREGATE * columns.keys.length);
  if (columns.steps.length === 1) return fillOfOnePoint(numbers, columns.steps[0]!, columns.values);
  let at = 0;
  for (const head of aggregatesOfColumns(columns)) {
    numbers[at] = head.count;
    numbers[at + 1] = head.mean;
    numbers[at + 2] = head.m2;
    numbers[at + 3] = head.min;
    numbers[at + 4] = head.minStep;
    numbers[at + 5] = head.max;
    numbers[at + 6] = head.maxStep;
    numbers[at + 7] = head.latest;
    numbers[at + 8] = head.latestStep;
    numbers[at + 9] = head.firstStep;
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
 * Makes the head at `at` of a page that of its values and of those behind the head at `from` of `heads`, which arrived later. The same
 * arithmetic as mergeHeads of the metric codec: m2 becomes Infinity where it is beyond a double, and nothing ever NaN. A head of zeros has
 * no values yet.
 */
export function mergeHead(page: Float64Array, at: number, heads: Float64Array, from: number): void {
  const count = page[at]!;
  if (count === 0) {
    for (let i = 0; i < NUMBERS_PER_AGGREGATE; i++) page[at + i] = heads[from + i]!;
    return;
  }
  const added = heads[from]!;
  const total = count + added;
  const share = added / total;
  const mean = page[at + 1]!;
  const addedMean = heads[from + 1]!;
  const delta = addedMean - mean;
  page[at] = total;
  // Means at opposite ends of the doubles are further apart than a double can say.
  page[at + 1] = Number.isFinite(delta) ? mean + delta * share : mean * (1 - share) + addedMean * share;
  page[at + 2] = page[at + 2]! + heads[from + 2]! + delta * delta * (count * share);
  const min = heads[from + 3]!;
  const minStep = heads[from + 4]!;
  if (min < page[at + 3]! || (min === page[at + 3]! && minStep < page[at + 4]!)) {
    page[at + 3] = min;
    page[at + 4] = minStep;
  }
  const max = heads[from + 5]!;
  const maxStep = heads[from + 6]!;
  if (max > page[at + 5]! || (max === page[at + 5]! && maxStep < page[at + 6]!)) {
    page[at + 5] = max;
    page[at + 6] = maxStep;
  }
  if (heads[from + 8]! >= page[at + 8]!) {
    page[at + 7] = heads[from + 7]!;
    page[at + 8] = heads[from + 8]!;
  }
  if (heads[from + 9]! < page[at + 9]!) page[at + 9] = heads[from + 9]!;
}
