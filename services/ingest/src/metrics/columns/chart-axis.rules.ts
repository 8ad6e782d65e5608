import type { SortedPoints } from "./collect-points.rules.ts";
import { millisecondsOf } from "./series-columns.rules.ts";

/** Returns the times of points in milliseconds since the Unix epoch. */
export function timesOf({ timesUs }: SortedPoints): Float64Array {
  return timesUs.map(millisecondsOf);
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
