import type { BucketColumns } from "@tidemark/codecs/metrics";

/** Points as columns of one length. */
export type PointsOfChart = {
  readonly step: Float64Array;
  readonly value: Float64Array;
  /** The client's time, or else when the server received the point: milliseconds since the Unix epoch. */
  readonly time: Float64Array;
};

/** Columns that both forms may have; unwanted ones are empty. */
type AddedColumns = {
  /** With smoothing; for a bucket, the mean. */
  readonly smoothed: Float64Array;
  /** With an axis other than steps; for a bucket, its start. The rows are in this order. */
  readonly x: Float64Array;
};

/** A series in an answer. */
export type SeriesColumns =
  | ({ readonly sampled: false; readonly truncated: boolean } & PointsOfChart & AddedColumns)
  | ({ readonly sampled: true } & BucketColumns & AddedColumns);

const NONE = new Float64Array(0);

/** The empty columns of a series that is neither smoothed nor drawn by an axis other than steps. */
export const nothingAdded: AddedColumns = { smoothed: NONE, x: NONE };

/** The columns of a series without points. */
export const noColumns: SeriesColumns = {
  sampled: false,
  truncated: false,
  step: NONE,
  value: NONE,
  time: NONE,
  ...nothingAdded,
};

/** Returns a time in microseconds as milliseconds, which charts are drawn by. */
export function millisecondsOf(micros: number): number {
  return Math.floor(micros / 1000);
}
