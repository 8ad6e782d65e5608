import type { BucketColumns } from "@tidemark/codecs/metrics";

/** Points right before or right after the bounds of a chart, at most one on each side. */
export type EdgeRows = { readonly step: Float64Array; readonly value: Float64Array };

/** Returns buckets with the points around them as buckets of their own. */
export function withEdgeBuckets(buckets: BucketColumns, before: EdgeRows, after: EdgeRows): BucketColumns {
  if (before.step.length + after.step.length === 0) return buckets;
  const parts = [bucketsOf(before), buckets, bucketsOf(after)];
  const joined = (name: keyof BucketColumns): Float64Array => concat(parts.map((part) => part[name]));
  const counted = parts.map(({ step, nonFinite }) => (nonFinite.length > 0 ? nonFinite : step.map(() => 0)));
  return {
    step: joined("step"),
    min: joined("min"),
    max: joined("max"),
    mean: joined("mean"),
    count: joined("count"),
    first: joined("first"),
    last: joined("last"),
    nonFinite: joined("nonFinite").length > 0 ? concat(counted) : joined("nonFinite"),
  };
}

/** Returns a bucket for each point; one whose value is not finite has a count of 0, as samplers give it. */
function bucketsOf({ step, value }: EdgeRows): BucketColumns {
  const shown = value.map((one) => (Number.isFinite(one) ? one : Number.NaN));
  const count = shown.map((one) => (Number.isNaN(one) ? 0 : 1));
  const nonFinite = count.map((one) => 1 - one);
  const columns = { min: shown, max: shown, mean: shown, first: shown, last: shown };
  return { step, ...columns, count, nonFinite: nonFinite.includes(1) ? nonFinite : new Float64Array(0) };
}

/** Returns columns one after another. */
export function concat(columns: readonly Float64Array[]): Float64Array {
  const joined = new Float64Array(columns.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const column of columns) {
    joined.set(column, at);
    at += column.length;
  }
  return joined;
}
