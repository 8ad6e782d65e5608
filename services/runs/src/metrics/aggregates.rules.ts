/** A page of the key aggregates of one run, as the statements return it; columns are null when the page is empty. */
export type MetricRow = {
  /** The keys in code point order, separated by NUL. */
  readonly metric_keys: Buffer | null;
  /** How many keys match, including those beyond the limit. */
  readonly metric_total: number;
  // A big-endian double per key, in the order of the keys.
  readonly metric_latest: Buffer | null;
  readonly metric_min: Buffer | null;
  readonly metric_max: Buffer | null;
  readonly metric_mean: Buffer | null;
  /** NaN where a double cannot hold it. */
  readonly metric_variance: Buffer | null;
  readonly metric_count: Buffer | null;
  readonly metric_best: Buffer | null;
  readonly metric_best_step: Buffer | null;
};

/** The row of a run without metrics, or whose metrics were not requested. */
export const NO_METRICS: MetricRow = {
  metric_keys: null,
  metric_total: 0,
  metric_latest: null,
  metric_min: null,
  metric_max: null,
  metric_mean: null,
  metric_variance: null,
  metric_count: null,
  metric_best: null,
  metric_best_step: null,
};

/** Returns the keys of a row. */
export function metricKeysOf({ metric_keys: packed }: Pick<MetricRow, "metric_keys">): string[] {
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
  return {
    latest: numbersOf(row.metric_latest),
    min: numbersOf(row.metric_min),
    max: numbersOf(row.metric_max),
    mean: numbersOf(row.metric_mean),
    variance: numbersOf(row.metric_variance),
    count: numbersOf(row.metric_count),
    best: numbersOf(row.metric_best),
    bestStep: numbersOf(row.metric_best_step),
  };
}

/** Returns the doubles of a column, as PostgreSQL's float8send writes them one after another. */
export function numbersOf(bytes: Buffer | null): number[] {
  if (bytes === null) return [];
  const numbers: number[] = [];
  for (let at = 0; at < bytes.length; at += 8) numbers.push(bytes.readDoubleBE(at));
  return numbers;
}
