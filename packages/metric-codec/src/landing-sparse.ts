import { valueCountOf } from "./columns.ts";
import type { MetricColumns } from "./columns.ts";
import type { SegmentLayout } from "./landing-layout.ts";

/** The keys, by index, that are missing at some point. */
export function sparseColumnsOf(columns: MetricColumns): number[] {
  const sparse: number[] = [];
  if (columns.offsets.length === 0) return sparse;
  for (let key = 0; key < columns.keys.length; key++) {
    if (valueCountOf(columns, key) !== columns.steps.length) sparse.push(key);
  }
  return sparse;
}

/** Writes the number of values of each sparse column and the points of these values. */
export function writePointIndexes(
  buffer: ArrayBuffer,
  layout: SegmentLayout,
  columns: MetricColumns,
  sparse: readonly number[],
): void {
  const counts = new Uint32Array(buffer, layout.countsAt, sparse.length);
  const Indexes = layout.indexWidth === 2 ? Uint16Array : Uint32Array;
  let at = layout.indexesAt;
  sparse.forEach((key, i) => {
    const from = columns.offsets[key]!;
    const count = valueCountOf(columns, key);
    counts[i] = count;
    new Indexes(buffer, at, count).set(columns.pointIndexes.subarray(from, from + count));
    at += layout.indexWidth * count;
  });
}
