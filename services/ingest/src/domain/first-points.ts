/** Points of one key in one run as columns of one length. */
export type Points = {
  readonly steps: Float64Array;
  readonly values: Float64Array;
  /** When the server received the point, in microseconds since the Unix epoch. */
  readonly createdUs: Float64Array;
  /** The client's time in the same unit, NaN where it sent none; empty when no point has one. */
  readonly timestampsUs: Float64Array;
};

/** Collects the first points of a series out of any number that pass by. */
export type FirstPoints = {
  /** Takes a point, which arrived after all those taken before. */
  readonly add: (step: number, value: number, createdUs: number, timestampUs: number) => void;
  /** How many points are kept: at most the capacity, and less only if no more came. */
  count(): number;
  /** The first `max` of them by step, then by arrival. */
  take(max: number): Points;
};

/**
 * Keeps the first `capacity` points by step, then by arrival. Memory is bounded by twice the capacity,
 * whatever the number of points; points that come in ascending steps are neither moved nor sorted.
 */
export function createFirstPoints(capacity: number): FirstPoints {
  let steps: number[] = [];
  let values: number[] = [];
  let createdUs: number[] = [];
  let timestampsUs: number[] = [];
  let ascending = true;
  /** Once `capacity` points are known, those that do not come before this step need not be kept. */
  let bound = Infinity;

  const settle = (): void => {
    if (!ascending) {
      // Array.prototype.sort is stable, so that equal steps stay in the order of arrival.
      const order = steps.map((_, i) => i).sort((a, b) => steps[a]! - steps[b]!);
      const arrange = (column: number[]): number[] => order.map((i) => column[i]!);
      [steps, values, createdUs, timestampsUs] = [
        arrange(steps),
        arrange(values),
        arrange(createdUs),
        arrange(timestampsUs),
      ];
      ascending = true;
    }
    if (steps.length >= capacity) {
      for (const column of [steps, values, createdUs, timestampsUs]) column.length = capacity;
      bound = steps[capacity - 1]!;
    }
  };

  return {
    add(step, value, created, timestamp) {
      // One that ties with the last kept point arrived later than it.
      if (step >= bound) return;
      if (steps.length > 0 && step < steps.at(-1)!) ascending = false;
      steps.push(step);
      values.push(value);
      createdUs.push(created);
      timestampsUs.push(timestamp);
      if (steps.length >= 2 * capacity || (ascending && steps.length === capacity)) settle();
    },
    count() {
      settle();
      return steps.length;
    },
    take(max) {
      settle();
      const cut = (column: number[]): Float64Array => Float64Array.from(column.slice(0, max));
      const times = cut(timestampsUs);
      return {
        steps: cut(steps),
        values: cut(values),
        createdUs: cut(createdUs),
        timestampsUs: times.every(Number.isNaN) ? new Float64Array(0) : times,
      };
    },
  };
}
