import { AGGREGATES_PER_PAGE, NUMBERS_PER_AGGREGATE, populationVariance, readAggregate } from "@tidemark/metric-codec";

/** A page of the key aggregates of one run, as the statements return it; columns are null when the page is empty. */
export type MetricRow = {
  /** The keys in code point order, separated by NUL. */
  readonly metric_keys: Buffer | null;
  /** For each key twice its id, plus one where less is better: big-endian 32-bit integers. */
  readonly metric_ids: Buffer | null;
  /** The aggregate pages that have the keys: for each its number, then its aggregates as an array. */
  readonly metric_pages: Buffer | null;
  /** The aggregate of each key as an array, where the keys are in too many pages to read them whole. */
  readonly metric_aggregates: Buffer | null;
  /** How many keys match, including those beyond the limit. */
  readonly metric_total: number;
};

/** The row of a run without metrics, or whose metrics were not asked for. */
export const NO_METRICS: MetricRow = {
  metric_keys: null,
  metric_ids: null,
  metric_pages: null,
  metric_aggregates: null,
  metric_total: 0,
};

/** Returns the keys of a row. */
export function metricKeysOf({ metric_keys: packed }: MetricRow): string[] {
  return packed === null ? [] : packed.toString("utf8").split("\0");
}

/** The numbers shown of each key, a column each in the order of the keys; a variance that a double cannot hold is NaN. */
type NumberColumns = {
  readonly latest: number[];
  readonly min: number[];
  readonly max: number[];
  readonly mean: number[];
  readonly variance: number[];
  readonly count: number[];
  readonly best: number[];
  readonly bestStep: number[];
};

/** Returns the numbers of a row as columns. */
export function numberColumnsOf(row: MetricRow): NumberColumns {
  const columns: NumberColumns = {
    latest: [],
    min: [],
    max: [],
    mean: [],
    variance: [],
    count: [],
    best: [],
    bestStep: [],
  };
  const { metric_ids: ids } = row;
  if (ids === null) return columns;
  const aggregateAt = aggregateReader(row);
  for (let i = 0; 4 * i < ids.length; i += 1) {
    const id = ids.readInt32BE(4 * i);
    const aggregate = aggregateAt(i, id >> 1);
    const minimise = (id & 1) === 1;
    columns.latest.push(aggregate.latest);
    columns.min.push(aggregate.min);
    columns.max.push(aggregate.max);
    columns.mean.push(aggregate.mean);
    columns.variance.push(varianceOf(aggregate));
    columns.count.push(aggregate.count);
    columns.best.push(minimise ? aggregate.min : aggregate.max);
    columns.bestStep.push(minimise ? aggregate.minStep : aggregate.maxStep);
  }
  return columns;
}

/** Returns the variance as the view ingest.metric_aggregates_v1 does, in which PostgreSQL must not divide the smallest numbers. */
function varianceOf(aggregate: Parameters<typeof populationVariance>[0]): number {
  if (aggregate.m2 < 1e-290) return 0;
  const variance = populationVariance(aggregate);
  return variance < Infinity ? variance : Number.NaN;
}

// PostgreSQL's binary form of a float8[] (array_send): a header, then each number after its length.
const ARRAY_HEADER_BYTES = 20;
const ARRAY_LENGTH_AT = 12;
const NUMBER_BYTES = 12;
const NUMBER_AT = 4;
const AGGREGATE_BYTES = ARRAY_HEADER_BYTES + NUMBERS_PER_AGGREGATE * NUMBER_BYTES;

/** Returns a reader of the aggregate of a key, given the index of the key in the row and its id. */
function aggregateReader({ metric_pages: pages, metric_aggregates: aggregates }: MetricRow) {
  const bytes = pages ?? aggregates ?? Buffer.alloc(0);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const read = (start: number) =>
    readAggregate((i) => view.getFloat64(start + ARRAY_HEADER_BYTES + i * NUMBER_BYTES + NUMBER_AT));
  if (pages === null) return (index: number) => read(index * AGGREGATE_BYTES);
  const startOf = new Map<number, number>();
  for (let at = 0; at < pages.length;) {
    startOf.set(pages.readInt32BE(at), at + 4);
    at += 4 + ARRAY_HEADER_BYTES + pages.readInt32BE(at + 4 + ARRAY_LENGTH_AT) * NUMBER_BYTES;
  }
  return (_index: number, keyId: number) => {
    const slot = keyId % AGGREGATES_PER_PAGE;
    const start = startOf.get((keyId - slot) / AGGREGATES_PER_PAGE);
    if (start === undefined) throw new Error("a metric key has no aggregate");
    return read(start + slot * NUMBERS_PER_AGGREGATE * NUMBER_BYTES);
  };
}
