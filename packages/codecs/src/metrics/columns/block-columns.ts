import { codecError } from "../../bytes.ts";
import { checkColumnArrays } from "./metric-columns.ts";

/**
 * Points of one run as columns, one per key, from any number of writes. Points (the axis) are in the order of arrival; steps may go
 * back and repeat.
 *
 * - `keyIds`: ascending and distinct; each has at least one value.
 * - `steps`: one per point. `receivedUs`: when the server received it, in microseconds since the Unix epoch.
 * - `timestampsUs`: the client's time per point, NaN where it sent none; empty if no point has one.
 * - `values`, `offsets`, `pointIndexes`: as in MetricColumns; both index arrays are empty if every key has a value at every point (dense).
 *
 * Every point has a value of some key.
 */
export type BlockColumns = {
  readonly keyIds: Uint32Array;
  readonly steps: Float64Array;
  readonly receivedUs: Float64Array;
  readonly timestampsUs: Float64Array;
  readonly offsets: Uint32Array;
  readonly pointIndexes: Uint32Array;
  readonly values: Float64Array;
};

export const EMPTY_U32 = new Uint32Array(0);
export const EMPTY_F64 = new Float64Array(0);

/** Returns how many values all keys have together. */
export function countValues(columns: BlockColumns): number {
  return columns.values.length;
}

/** Returns how many values the key at `index` has. */
export function valuesOfKey(columns: BlockColumns, index: number): number {
  const { offsets, steps } = columns;
  return offsets.length === 0 ? steps.length : offsets[index + 1]! - offsets[index]!;
}

/** Throws a CodecError unless the arrays fit together as {@link BlockColumns} promises; the numbers themselves are not checked. */
export function checkBlockColumns(columns: BlockColumns): void {
  const { keyIds, steps, receivedUs } = columns;
  for (let key = 1; key < keyIds.length; key++)
    if (keyIds[key]! <= keyIds[key - 1]!) throw codecError("key ids do not ascend");
  if (receivedUs.length !== steps.length) throw codecError("times and steps differ in number");
  checkColumnArrays(columns, keyIds.length);
}

/** Copies `count` numbers: a few of them one by one, because `set` of a view takes longer for these. */
export function copyNumbers<T extends Float64Array | Uint32Array>(
  target: T,
  at: number,
  source: T,
  from: number,
  count: number,
): void {
  if (count > 24) target.set(source.subarray(from, from + count), at);
  else for (let i = 0; i < count; i++) target[at + i] = source[from + i]!;
}

/** Returns the numbers at these indexes. */
export function pick(numbers: Float64Array, indexes: Uint32Array): Float64Array<ArrayBuffer> {
  const picked = new Float64Array(indexes.length);
  for (let i = 0; i < indexes.length; i++) picked[i] = numbers[indexes[i]!]!;
  return picked;
}

/** Returns the lowest and the highest of at least one step. */
export function stepRange(steps: Float64Array): { firstStep: number; lastStep: number } {
  let firstStep = steps[0]!;
  let lastStep = firstStep;
  for (const step of steps) {
    if (step < firstStep) firstStep = step;
    if (step > lastStep) lastStep = step;
  }
  return { firstStep, lastStep };
}
