import { codecError } from "./codec-error.ts";
import { checkPointIndexes } from "./columns.ts";
import type { MetricColumns } from "./columns.ts";
import { areKeysSorted } from "./key-order.ts";
import { unpackKeys } from "./landing-keys.ts";
import { PRESENT_EVERYWHERE, PRESENT_SPARSE, readLayout, VALUES_RAW } from "./landing-layout.ts";
import type { LandingLayout } from "./landing-layout.ts";
import { readSteps } from "./landing-steps.ts";
import { readTimes } from "./landing-times.ts";

/** One key's points in the order of their arrival; `timestampsUs` is empty when the batch has no times, NaN where a point has none. */
export type MetricSeries = {
  readonly steps: Float64Array;
  readonly values: Float64Array;
  readonly timestampsUs: Float64Array;
};

/**
 * The batch of a landing block. The arrays may be views of `bytes`, which must then not change; bytes that do not start at a multiple of 8
 * in their buffer are copied once. Throws a CodecError for anything that {@link encodeLanding} did not write: cut short, too long, of an
 * unknown version or codec, or contradicting itself. What is damaged inside a number cannot be noticed.
 */
export function decodeLanding(bytes: Uint8Array): MetricColumns {
  const layout = readLayout(bytes);
  const block = aligned(bytes);
  const directory = readDirectory(block, layout);
  const keys = unpackKeys(block.subarray(layout.keysAt, layout.end), directory.lengths);
  if (!areKeysSorted(keys)) throw codecError("the keys of the landing block are not distinct and in byte order");
  return {
    keys,
    steps: readSteps(block, layout.stepsAt, layout.stepCodec, layout.points),
    timestampsUs: readTimes(block, layout.timesAt, layout.timeCodec, layout.points),
    values: new Float64Array(block.buffer, block.byteOffset + layout.valuesAt, layout.values),
    ...readPresence(block, layout, directory.sparse),
  };
}

/**
 * The points of one key of a landing block, or null when the block has none of it. Reads nothing of the other keys but their lengths.
 * Shares `bytes` and throws like {@link decodeLanding}.
 */
export function decodeLandingKey(bytes: Uint8Array, key: string): MetricSeries | null {
  const layout = readLayout(bytes);
  const block = aligned(bytes);
  const found = findKey(block, layout, encoder.encode(key));
  if (found === null) return null;
  const { valuesFrom, count, indexesFrom } = found;
  if (valuesFrom + count > layout.values) throw codecError("a column of the landing block is out of bounds");
  const steps = readSteps(block, layout.stepsAt, layout.stepCodec, layout.points);
  const timestampsUs = readTimes(block, layout.timesAt, layout.timeCodec, layout.points);
  const values = new Float64Array(block.buffer, block.byteOffset + layout.valuesAt + 8 * valuesFrom, count);
  if (indexesFrom === null) return { steps, values, timestampsUs };
  const pointIndexes = readIndexes(block, layout, indexesFrom, count);
  checkPointIndexes(pointIndexes, 0, count, layout.points);
  return {
    steps: pick(steps, pointIndexes),
    values,
    timestampsUs: timestampsUs.length === 0 ? timestampsUs : pick(timestampsUs, pointIndexes),
  };
}

const encoder = new TextEncoder();

/** The same bytes at a multiple of 8 in their buffer, where the sections can be viewed as numbers. */
function aligned(bytes: Uint8Array): Uint8Array {
  return bytes.byteOffset % 8 === 0 ? bytes : new Uint8Array(bytes);
}

/** Per key, whether it is sparse, after every code in the directory was found to be known. */
function readDirectory(block: Uint8Array, layout: LandingLayout): { lengths: Uint16Array; sparse: Uint8Array } {
  const lengths = new Uint16Array(layout.keys);
  const sparse = new Uint8Array(layout.keys);
  for (let key = 0; key < layout.keys; key++) {
    const at = layout.directoryAt + 4 * key;
    lengths[key] = block[at]! | (block[at + 1]! << 8);
    sparse[key] = checkEntry(block[at + 2]!, block[at + 3]!);
  }
  return { lengths, sparse };
}

/** The presence code of a directory entry; throws a CodecError when one of its codes is unknown. */
function checkEntry(presence: number, valueCodec: number): number {
  if (presence !== PRESENT_EVERYWHERE && presence !== PRESENT_SPARSE)
    throw codecError("the landing block has an unknown presence code");
  if (valueCodec !== VALUES_RAW) throw codecError("the landing block has an unknown value codec");
  return presence;
}

/** The offsets and point indexes of all keys, both empty when no key is sparse. */
function readPresence(
  block: Uint8Array,
  layout: LandingLayout,
  sparse: Uint8Array,
): Pick<MetricColumns, "offsets" | "pointIndexes"> {
  const counts = countsOf(block, layout);
  const sparseSeen = sparse.reduce((sum, one) => sum + one, 0);
  if (sparseSeen !== layout.sparseColumns)
    throw codecError("the landing block names another number of sparse columns than it has");
  if (sparseSeen === 0) return { offsets: new Uint32Array(0), pointIndexes: new Uint32Array(0) };
  const offsets = new Uint32Array(layout.keys + 1);
  const pointIndexes = new Uint32Array(layout.values);
  let to = 0;
  let column = 0;
  let indexesFrom = 0;
  for (let key = 0; key < layout.keys; key++) {
    const from = to;
    const isSparse = sparse[key] === PRESENT_SPARSE;
    const count = isSparse ? counts[column++]! : layout.points;
    to = from + count;
    if (to > layout.values) throw codecError("a column of the landing block is out of bounds");
    offsets[key + 1] = to;
    if (isSparse) {
      pointIndexes.set(readIndexes(block, layout, indexesFrom, count), from);
      checkPointIndexes(pointIndexes, from, to, layout.points);
      indexesFrom += count;
    } else for (let point = 0; point < count; point++) pointIndexes[from + point] = point;
  }
  if (to !== layout.values) throw codecError("the columns of the landing block do not add up");
  return { offsets, pointIndexes };
}

/** Where a key's values and point indexes start (as counts of them), or null when no key of the directory has these bytes. */
function findKey(
  block: Uint8Array,
  layout: LandingLayout,
  wanted: Uint8Array,
): { valuesFrom: number; count: number; indexesFrom: number | null } | null {
  const counts = countsOf(block, layout);
  let keyAt = layout.keysAt;
  let valuesFrom = 0;
  let column = 0;
  let indexesFrom = 0;
  for (let key = 0; key < layout.keys; key++) {
    const at = layout.directoryAt + 4 * key;
    const length = block[at]! | (block[at + 1]! << 8);
    const isSparse = checkEntry(block[at + 2]!, block[at + 3]!) === PRESENT_SPARSE;
    if (isSparse && column >= counts.length)
      throw codecError("the landing block names more sparse columns than it has");
    const count = isSparse ? counts[column]! : layout.points;
    if (length === wanted.length && holdsAt(block, keyAt, wanted)) {
      return { valuesFrom, count, indexesFrom: isSparse ? indexesFrom : null };
    }
    keyAt += length;
    valuesFrom += count;
    if (isSparse) {
      column++;
      indexesFrom += count;
    }
  }
  return null;
}

function holdsAt(block: Uint8Array, at: number, wanted: Uint8Array): boolean {
  if (at + wanted.length > block.length) return false;
  for (let i = 0; i < wanted.length; i++) if (block[at + i] !== wanted[i]) return false;
  return true;
}

function countsOf(block: Uint8Array, layout: LandingLayout): Uint32Array {
  return new Uint32Array(block.buffer, block.byteOffset + layout.countsAt, layout.sparseColumns);
}

/** The point indexes of one sparse column, the first of them `from` indexes into their section. */
function readIndexes(block: Uint8Array, layout: LandingLayout, from: number, count: number): Uint32Array {
  const at = layout.indexesAt + layout.indexWidth * from;
  if (at + layout.indexWidth * count > layout.keysAt)
    throw codecError("point indexes of the landing block are out of bounds");
  const start = block.byteOffset + at;
  return layout.indexWidth === 2
    ? Uint32Array.from(new Uint16Array(block.buffer, start, count))
    : new Uint32Array(block.buffer, start, count);
}

function pick(numbers: Float64Array, indexes: Uint32Array): Float64Array {
  const picked = new Float64Array(indexes.length);
  for (let i = 0; i < indexes.length; i++) picked[i] = numbers[indexes[i]!]!;
  return picked;
}
