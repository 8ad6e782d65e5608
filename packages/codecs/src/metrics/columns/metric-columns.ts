import { codecError } from "../../bytes.ts";
import { areKeysSorted } from "./keys.ts";

/**
 * A batch of metric points as columns, one per key. Points keep the order in which they arrived; steps may go back and repeat.
 *
 * - `keys`: distinct, sorted by their UTF-8 bytes; each has at least one value.
 * - `steps`: one per point.
 * - `timestampsUs`: the client's time per point in whole microseconds since the Unix epoch, NaN where it sent none; empty if no point has one.
 *   Exact between the years 1684 and 2255, where a double holds every microsecond.
 * - `values`: grouped by key, within a key in the order of the points.
 * - `offsets`, `pointIndexes`: empty if every key has a value at every point (dense): key k's values are then
 *   `[k * points, (k + 1) * points)`. Otherwise key k's values are `[offsets[k], offsets[k + 1])`, and `pointIndexes` names the point of each
 *   value, strictly ascending within a key.
 *
 * Every point has a value of some key, so there are never more points than values.
 */
export type MetricColumns = {
  readonly keys: readonly string[];
  readonly steps: Float64Array;
  readonly timestampsUs: Float64Array;
  readonly offsets: Uint32Array;
  readonly pointIndexes: Uint32Array;
  readonly values: Float64Array;
  /** When the server received each point, in microseconds since the Unix epoch, where that was before it got them now: of points that are restored. */
  readonly receivedUs?: Float64Array | undefined;
};

/** The same as {@link MetricColumns} in plain arrays, as a decoded message has them. */
export type MetricColumnsParts = {
  readonly keys: readonly string[];
  readonly steps: ArrayLike<number>;
  readonly timestampsUs: ArrayLike<number>;
  readonly offsets: ArrayLike<number>;
  readonly pointIndexes: ArrayLike<number>;
  readonly values: ArrayLike<number>;
};

/**
 * Makes columns from plain arrays of a message, whose sender is not trusted. Throws a CodecError if a rule of {@link MetricColumns} is broken, or a step is
 * negative or not finite. Values may be any doubles. Typed arrays are taken over, not copied.
 */
export function columnsFromParts(parts: MetricColumnsParts): MetricColumns {
  const columns: MetricColumns = {
    keys: parts.keys,
    steps: float64(parts.steps),
    timestampsUs: float64(parts.timestampsUs),
    offsets: uint32(parts.offsets),
    pointIndexes: uint32(parts.pointIndexes),
    values: float64(parts.values),
  };
  checkColumns(columns);
  for (const step of columns.steps)
    if (!(step >= 0 && step < Infinity)) throw codecError("a step is negative or not finite");
  return columns;
}

/** Throws a CodecError unless the arrays fit together as {@link MetricColumns} promises; the numbers themselves are not checked. */
export function checkColumns(columns: MetricColumns): void {
  if (!areKeysSorted(columns.keys)) throw codecError("keys are not distinct and in byte order");
  checkColumnArrays(columns, columns.keys.length);
}

/** Checks the arrays as {@link checkColumns} does, for `keys` keys, whether these are texts or ids. */
export function checkColumnArrays(columns: Omit<MetricColumns, "keys">, keys: number): void {
  const { steps, timestampsUs, receivedUs, offsets, pointIndexes, values } = columns;
  const points = steps.length;
  if (receivedUs !== undefined && receivedUs.length !== points) throw codecError("times and steps differ in number");
  if (timestampsUs.length !== 0 && timestampsUs.length !== points) throw codecError("times and steps differ in number");
  if (points > values.length || (points === 0 && keys > 0)) throw codecError("a point or a key without values");
  if (offsets.length === 0) {
    if (pointIndexes.length !== 0) throw codecError("point indexes without offsets");
    if (values.length !== keys * points) throw codecError("a dense batch needs a value of every key at every point");
    return;
  }
  if (offsets.length !== keys + 1 || pointIndexes.length !== values.length) {
    throw codecError("offsets, point indexes and values differ in number");
  }
  if (offsets[0] !== 0 || offsets[keys] !== values.length) throw codecError("offsets do not span the values");
  for (let key = 0; key < keys; key++) checkPointIndexes(pointIndexes, offsets[key]!, offsets[key + 1]!, points);
}

/** Returns how many values the key at `index` has. */
export function valueCountOf(columns: MetricColumns, index: number): number {
  const { offsets, steps } = columns;
  return offsets.length === 0 ? steps.length : offsets[index + 1]! - offsets[index]!;
}

/** Throws a CodecError unless one key's point indexes, at `[from, to)`, are at least one, strictly ascending and below `points`. */
export function checkPointIndexes(pointIndexes: Uint32Array, from: number, to: number, points: number): void {
  if (!(from < to && to <= pointIndexes.length)) throw codecError("a key without values, or offsets out of order");
  let previous = -1;
  for (let i = from; i < to; i++) {
    const point = pointIndexes[i]!;
    if (point <= previous) throw codecError("point indexes do not ascend");
    previous = point;
  }
  if (previous >= points) throw codecError("a point index is out of range");
}

function float64(numbers: ArrayLike<number>): Float64Array {
  return numbers instanceof Float64Array ? numbers : Float64Array.from(numbers);
}

function uint32(numbers: ArrayLike<number>): Uint32Array {
  return numbers instanceof Uint32Array ? numbers : Uint32Array.from(numbers);
}
