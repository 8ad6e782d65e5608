import { codecError } from "../../bytes.ts";
import { CHUNK_STATISTICS_BYTES, CHUNK_SUM_BYTES } from "../storage-layout.ts";
import { valuesOfKey, type BlockColumns } from "../columns/block-columns.ts";
import { addToSum, SUM_NUMBERS } from "../numbers/exact-sum.ts";
import { areFinite } from "../numbers/finite.ts";

/**
 * The statistics of a chunk, which is the points of one key in a block: the points that M4 would keep of it. First is the
 * earliest arrival at the lowest step, last the latest arrival at the highest; `minStep` and `maxStep` are the lowest steps with those
 * values, and of equal values at that step (0 and -0) it is the one that arrived first. `count` is 0 if the key has no points in the block. Where a value is
 * not finite, `min` and `max` are NaN, and the statistics do not stand for the chunk: its points have to be read.
 */
export type ChunkStatistics = {
  readonly count: number;
  readonly firstStep: number;
  readonly firstValue: number;
  readonly lastStep: number;
  readonly lastValue: number;
  readonly min: number;
  readonly minStep: number;
  readonly max: number;
  readonly maxStep: number;
};

const NO_POINTS: ChunkStatistics = {
  count: 0,
  firstStep: 0,
  firstValue: 0,
  lastStep: 0,
  lastValue: 0,
  min: 0,
  minStep: 0,
  max: 0,
  maxStep: 0,
};

/**
 * Reads the statistics of one slot. Zero bytes, as stored beyond the last key of a block, are the statistics of no points. Throws a
 * CodecError for any other number of bytes than {@link CHUNK_STATISTICS_BYTES}, and for an impossible count.
 */
export function readChunkStatistics(bytes: Uint8Array): ChunkStatistics {
  if (bytes.length === 0) return NO_POINTS;
  if (bytes.length !== CHUNK_STATISTICS_BYTES) throw codecError("the statistics of a chunk have a wrong size");
  const view = new DataView(bytes.buffer, bytes.byteOffset, CHUNK_STATISTICS_BYTES);
  const number = (index: number): number => view.getFloat64(8 * index, true);
  const count = number(0);
  if (!(Number.isInteger(count) && count >= 0)) throw codecError("the statistics of a chunk have an impossible count");
  return {
    count,
    firstStep: number(1),
    firstValue: number(2),
    lastStep: number(3),
    lastValue: number(4),
    min: number(5),
    minStep: number(6),
    max: number(7),
    maxStep: number(8),
  };
}

/**
 * Writes the statistics of points, which are in the order of arrival, into `target` from index `at`. `ascending` promises that each step is above
 * the one before it, which saves comparisons.
 */
export function writeChunkStatistics(
  target: Float64Array,
  at: number,
  steps: Float64Array,
  values: Float64Array,
  ascending: boolean,
): void {
  const { first, last, min, max } = ascending ? extremesAscending(values) : extremesOf(steps, values);
  target[at] = values.length;
  target[at + 1] = steps[first]!;
  target[at + 2] = values[first]!;
  target[at + 3] = steps[last]!;
  target[at + 4] = values[last]!;
  target[at + 5] = values[min]!;
  target[at + 6] = steps[min]!;
  target[at + 7] = values[max]!;
  target[at + 8] = steps[max]!;
  if (!areFinite(values, 0, values.length)) target[at + 5] = target[at + 7] = Number.NaN;
}

/** Whether statistics say all that charts need of their points. */
export function standForPoints({ min }: Pick<ChunkStatistics, "min">): boolean {
  return !Number.isNaN(min);
}

/** The indexes of the points that statistics name. */
type Extremes = { first: number; last: number; min: number; max: number };

function extremesAscending(values: Float64Array): Extremes {
  let [min, max] = [0, 0];
  let [lowest, highest] = [values[0]!, values[0]!];
  for (let i = 1; i < values.length; i++) {
    const value = values[i]!;
    if (value < lowest) {
      lowest = value;
      min = i;
    } else if (value > highest) {
      highest = value;
      max = i;
    }
  }
  return { first: 0, last: values.length - 1, min, max };
}

function extremesOf(steps: Float64Array, values: Float64Array): Extremes {
  const places = { first: 0, last: 0, min: 0, max: 0 };
  for (let i = 1; i < values.length; i++) {
    const step = steps[i]!;
    const value = values[i]!;
    if (step < steps[places.first]!) places.first = i;
    if (step >= steps[places.last]!) places.last = i;
    const lowest = values[places.min]!;
    if (value < lowest || (value === lowest && step < steps[places.min]!)) places.min = i;
    const highest = values[places.max]!;
    if (value > highest || (value === highest && step < steps[places.max]!)) places.max = i;
  }
  return places;
}

/** The statistics of a chunk with its sum, which is in two numbers; the sum means nothing where a value is not finite. */
export type SummedChunk = ChunkStatistics & { readonly sum: number; readonly sumRest: number };

/** Returns the sums of the chunks of a block, as `encodeBlock` makes them, for a block that was stored without. */
export function chunkSumsOf(columns: BlockColumns, firstKey: number): Uint8Array<ArrayBuffer> {
  const { keyIds, values } = columns;
  const sums = new Float64Array(SUM_NUMBERS * (keyIds[keyIds.length - 1]! - firstKey + 1));
  let from = 0;
  keyIds.forEach((keyId, key) => {
    const to = from + valuesOfKey(columns, key);
    addToSum(sums, SUM_NUMBERS * (keyId - firstKey), values, from, to);
    from = to;
  });
  return new Uint8Array(sums.buffer);
}

/** Reads the statistics of a chunk with its sum behind them. @throws CodecError for another number of bytes, and for an impossible count */
export function readSummedChunk(bytes: Uint8Array): SummedChunk {
  if (bytes.length !== CHUNK_STATISTICS_BYTES + CHUNK_SUM_BYTES)
    throw codecError("the statistics of a chunk with its sum have a wrong size");
  const view = new DataView(bytes.buffer, bytes.byteOffset + CHUNK_STATISTICS_BYTES, CHUNK_SUM_BYTES);
  return {
    ...readChunkStatistics(bytes.subarray(0, CHUNK_STATISTICS_BYTES)),
    sum: view.getFloat64(0, true),
    sumRest: view.getFloat64(8, true),
  };
}
