/** The horizontal axis of a chart. */
export type XAxis = "step" | "relative" | "time" | `metric:${string}`;

/** How the server smooths. */
export type Smoothing = { readonly kind: "ema" | "gaussian" | "mean"; readonly parameter: number };

/** Points of a metric of a run, or buckets of them, as columns of one length in the order of `x`. */
export type Series = {
  readonly runId: string;
  readonly key: string;
  /** These are buckets. */
  readonly sampled: boolean;
  /** There are more points than the server sends. */
  readonly truncated: boolean;
  /** Where a point lies on the axis; of a bucket the middle of it. */
  readonly x: Float64Array;
  readonly step: Float64Array;
  /** Values, or means of buckets. NaN for values that are not finite. */
  readonly y: Float64Array;
  readonly low?: Float64Array;
  readonly high?: Float64Array;
  /** Points of each bucket. */
  readonly count?: Float64Array;
  readonly first?: Float64Array;
  readonly last?: Float64Array;
  readonly smoothed?: Float64Array;
};

/** The request to the server for one chart. */
export type SeriesQuery = {
  readonly key: string;
  readonly runIds: readonly string[];
  readonly x: XAxis;
  readonly smoothing: Smoothing | undefined;
  /** Only between these steps, with one point beyond each. */
  readonly steps: readonly [number, number] | undefined;
  readonly buckets: number;
  /** Of forks also the points of what they were forked from, up to the steps of the forks. */
  readonly lineage?: true;
};

/** About the bytes that a series takes in memory. */
export function bytesOf(series: Series): number {
  return Object.values(series).reduce<number>(
    (sum, column) => sum + (column instanceof Float64Array ? column.byteLength : 0),
    200,
  );
}
