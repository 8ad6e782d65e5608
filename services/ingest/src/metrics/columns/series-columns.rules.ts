import type { BucketColumns } from "@tidemark/metric-codec";

/** Points as columns of one length. */
export type PointsOfChart = {
  readonly step: Float64Array;
  readonly value: Float64Array;
  /** The client's time, else when the server received the point: milliseconds since the Unix epoch. */
  readonly time: Float64Array;
};

/** Columns that both forms may have; those that are not wanted are empty. */
type AddedColumns = {
  /** With smoothing; of a bucket the mean. */
  readonly smoothed: Float64Array;
  /** With another axis than steps; of a bucket where it begins. The rows are in this order. */
  readonly x: Float64Array;
};

/** What an answer shows of a series. */
export type SeriesColumns =
  | ({ readonly sampled: false; readonly truncated: boolean } & PointsOfChart & AddedColumns)
  | ({ readonly sampled: true } & BucketColumns & AddedColumns);

const NONE = new Float64Array(0);

/** The columns that a series does not have which is neither smoothed nor drawn by another axis than steps. */
export const nothingAdded: AddedColumns = { smoothed: NONE, x: NONE };

/** Of a series without points. */
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
