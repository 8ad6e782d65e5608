/** Inclusive bounds of steps; absent: none. */
export type StepRange = { readonly startStep: number | undefined; readonly endStep: number | undefined };

/** Points of one key as they are stored, in the order of their arrival. */
export type StoredSeries = {
  readonly steps: Float64Array;
  readonly values: Float64Array;
  /** When the server received each point, or all of them, in microseconds since the Unix epoch. */
  readonly receivedUs: Float64Array | number;
  /** The client's times in the same unit, NaN where it sent none; empty when no point has one. */
  readonly timestampsUs: Float64Array;
};

/** Takes points of a series, which arrived after all those taken before. */
export type SeriesTaker = (series: StoredSeries) => void;
