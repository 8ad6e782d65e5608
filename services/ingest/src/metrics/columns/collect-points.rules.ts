import type { StoredSeries } from "../read/metric-rows.rules.ts";
import { millisecondsOf, timeUsOf } from "./series-columns.rules.ts";

/** Collects all points of a key. */
export type CollectedPoints = {
  /** Takes points of a source of the run, which arrived after all points taken before. */
  readonly add: (series: StoredSeries, cutStep: number) => void;
  /** Returns the points by step and arrival. Nothing can be added afterwards. */
  sorted(): SortedPoints;
};

/** Points by step and arrival. `timesUs` are the times that answers show, in microseconds; empty where not wanted. */
export type SortedPoints = {
  readonly steps: Float64Array;
  readonly values: Float64Array;
  readonly timesUs: Float64Array;
};

/** Creates a collector of at most `capacity` points. */
export function collectPoints(capacity: number, isTimed: boolean): CollectedPoints {
  const steps = new Float64Array(capacity);
  const values = new Float64Array(capacity);
  const timesUs = new Float64Array(isTimed ? capacity : 0);
  let count = 0;
  let latest = 0;
  let isAscending = true;
  return {
    add(series, cutStep) {
      for (let i = 0; i < series.steps.length; i++) {
        const step = series.steps[i]!;
        if (step > cutStep) continue;
        if (step < latest) isAscending = false;
        latest = step;
        steps[count] = step;
        values[count] = series.values[i]!;
        if (isTimed) timesUs[count] = timeUsOf(series, i);
        count += 1;
      }
    },
    sorted() {
      const [own, ownValues, ownTimes] = [steps, values, timesUs].map((column) => column.subarray(0, count)) as Three;
      if (isAscending) return { steps: own, values: ownValues, timesUs: ownTimes };
      const order = orderBy(own);
      return { steps: pick(own, order), values: pick(ownValues, order), timesUs: pick(ownTimes, order) };
    },
  };
}

type Three = [Float64Array, Float64Array, Float64Array];

/** Returns the places of numbers in ascending order; equal ones keep their order. */
export function orderBy(numbers: Float64Array): Uint32Array {
  return Uint32Array.from({ length: numbers.length }, (_, i) => i).sort((a, b) => numbers[a]! - numbers[b]! || a - b);
}

/** Returns the numbers of a column at some places; an empty column stays empty. */
export function pick(column: Float64Array, places: Uint32Array): Float64Array {
  const picked = new Float64Array(column.length === 0 ? 0 : places.length);
  for (let i = 0; i < picked.length; i++) picked[i] = column[places[i]!]!;
  return picked;
}

/** Returns the times of points in milliseconds since the Unix epoch. */
export function timesOf({ timesUs }: SortedPoints): Float64Array {
  return timesUs.map(millisecondsOf);
}

/** Returns when a run began, in microseconds: its start, or its first point where that is earlier, as of back-dated and imported points. */
export function beginningOf(startedUs: number, series: readonly SortedPoints[]): number {
  return series.reduce(
    (first, { timesUs }) => timesUs.reduce((least, timeUs) => Math.min(least, timeUs), first),
    startedUs,
  );
}

/** Returns the times of points in seconds since a time in microseconds. */
export function secondsSince(startedUs: number): (points: SortedPoints) => Float64Array {
  return ({ timesUs }) => timesUs.map((timeUs) => (timeUs - startedUs) / 1e6);
}

/** Returns the values of another key at the steps of points: the latest arrival of several, NaN where there is none. */
export function valuesOf(other: SortedPoints): (points: SortedPoints) => Float64Array {
  return ({ steps }) => {
    let at = -1;
    return steps.map((step) => {
      while (at + 1 < other.steps.length && other.steps[at + 1]! <= step) at += 1;
      return at >= 0 && other.steps[at] === step ? other.values[at]! : Number.NaN;
    });
  };
}
