import type { SeriesTaker, StepRange, StoredSeries } from "./metric-rows.rules.ts";

/** Points of one key in one run as columns of one length. */
export type Points = {
  readonly steps: Float64Array;
  readonly values: Float64Array;
  /** When the server received the point, in microseconds since the Unix epoch. */
  readonly createdUs: Float64Array;
  /** The client's time in the same unit, NaN where the client sent none; empty when no point has one. */
  readonly timestampsUs: Float64Array;
};

/** Collects the first points of a series from any number of points. */
export type FirstPoints = {
  readonly add: SeriesTaker;
  /** Returns how many points are kept: the capacity, or fewer if fewer were added. */
  count(): number;
  /** Returns the first `max` of them by step, then by arrival. */
  take(max: number): Points;
};

const NONE = new Float64Array(0);
/** Up to this many numbers are copied one by one, which is faster for this few than a copy of the array. */
const COPIED_SINGLY = 16;

/**
 * Keeps the first `capacity` points within the range by step, then by arrival. Its memory is bounded by twice the capacity, regardless of the number
 * of points. Points that arrive in ascending steps are neither moved nor sorted.
 */
export function createFirstPoints(capacity: number, { startStep = 0, endStep = Infinity }: StepRange): FirstPoints {
  /** Steps, values, times of arrival, client times: `kept` numbers each, and space for more. */
  let columns: readonly [Float64Array, Float64Array, Float64Array, Float64Array] = [NONE, NONE, NONE, NONE];
  let kept = 0;
  let timed = false;
  let ascending = true;
  let latest = -1;
  /** Once `capacity` points are known, a point at this step or later need not be kept. */
  let bound = Infinity;

  const reserve = (count: number): void => {
    const reserved = columns[0].length;
    if (kept + count <= reserved) return;
    const larger = Math.max(kept + count, Math.min(2 * reserved, 2 * capacity));
    columns = columns.map((column) => {
      const moved = new Float64Array(larger);
      moved.set(column.subarray(0, kept));
      return moved;
    }) as unknown as typeof columns;
  };

  const sortAndTrim = (): void => {
    const [steps] = columns;
    if (!ascending) {
      const order = Uint32Array.from({ length: kept }, (_, i) => i).sort((a, b) => steps[a]! - steps[b]! || a - b);
      columns = columns.map((column) => Float64Array.from(order, (i) => column[i]!)) as unknown as typeof columns;
      ascending = true;
    }
    kept = Math.min(kept, capacity);
    if (kept === capacity) bound = columns[0][capacity - 1]!;
    latest = kept === 0 ? -1 : columns[0][kept - 1]!;
  };

  /** Takes the points `[from, to)`, whose steps do not decrease and do not begin before the latest. */
  const append = ({ steps, values, receivedUs, timestampsUs }: StoredSeries, from: number, to: number): void => {
    const count = Math.min(to - from, capacity - kept);
    reserve(count);
    copy(columns[0], kept, steps, from, count);
    copy(columns[1], kept, values, from, count);
    if (typeof receivedUs === "number") columns[2].fill(receivedUs, kept, kept + count);
    else copy(columns[2], kept, receivedUs, from, count);
    if (timestampsUs.length === 0) columns[3].fill(Number.NaN, kept, kept + count);
    else copy(columns[3], kept, timestampsUs, from, count);
    kept += count;
    if (kept === capacity) sortAndTrim();
    else latest = columns[0][kept - 1]!;
  };

  const insert = ({ steps, values, receivedUs, timestampsUs }: StoredSeries, i: number): void => {
    const step = steps[i]!;
    reserve(1);
    columns[0][kept] = step;
    columns[1][kept] = values[i]!;
    columns[2][kept] = typeof receivedUs === "number" ? receivedUs : receivedUs[i]!;
    columns[3][kept] = timestampsUs.length === 0 ? Number.NaN : timestampsUs[i]!;
    kept += 1;
    if (step < latest) ascending = false;
    latest = step;
    if (kept === 2 * capacity || (ascending && kept === capacity)) sortAndTrim();
  };

  return {
    add(series) {
      const { steps, timestampsUs } = series;
      timed ||= timestampsUs.length > 0;
      // A point at the step of the last kept point arrived later than that point.
      const isWanted = (step: number): boolean => step >= startStep && step <= endStep && step < bound;
      let at = 0;
      while (at < steps.length) {
        if (!isWanted(steps[at]!)) {
          at += 1;
          continue;
        }
        let to = at + 1;
        while (to < steps.length && steps[to]! >= steps[to - 1]! && steps[to]! <= endStep) to += 1;
        if (ascending && steps[at]! >= latest) append(series, at, to);
        else for (let i = at; i < to; i++) if (steps[i]! < bound) insert(series, i);
        at = to;
      }
    },
    count() {
      sortAndTrim();
      return kept;
    },
    take(max) {
      sortAndTrim();
      const [steps, values, createdUs, sent] = columns.map((column) =>
        column.slice(0, Math.min(max, kept)),
      ) as unknown as typeof columns;
      return {
        steps,
        values,
        createdUs,
        timestampsUs: !timed || sent.every(Number.isNaN) ? NONE : sent,
      };
    },
  };
}

function copy(target: Float64Array, at: number, source: Float64Array, from: number, count: number): void {
  if (count > COPIED_SINGLY) target.set(source.subarray(from, from + count), at);
  else for (let i = 0; i < count; i++) target[at + i] = source[from + i]!;
}
