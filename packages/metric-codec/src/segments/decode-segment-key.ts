import { codecError } from "../codec-error.ts";
import { checkPointIndexes } from "../columns/metric-columns.ts";
import { aligned, countsOf, presenceAt, readIndexes, readSteps, readTimes } from "./segment-sections.ts";
import { IDS_LISTED, PRESENT_SPARSE, SEGMENT_VERSION_TEXTS, readLayout, type SegmentLayout } from "./segment-layout.ts";
import { pick } from "../columns/block-columns.ts";

/** One key's points in the order of their arrival; `timestampsUs` is empty when the batch has no times, NaN where a point has none. */
export type MetricSeries = {
  readonly steps: Float64Array;
  readonly values: Float64Array;
  readonly timestampsUs: Float64Array;
};

/**
 * The points of one key of a landing block, or null when the block has none of it; the key is looked for by its id in a block of version 2
 * and by its text in one of version 1. Reads nothing of the other keys but their names and presence. Shares `bytes` and throws like
 * decodeSegment.
 */
export function decodeSegmentKey(
  bytes: Uint8Array,
  key: { readonly key: string; readonly keyId: number },
): MetricSeries | null {
  const layout = readLayout(bytes);
  const block = aligned(bytes);
  const index =
    layout.version === SEGMENT_VERSION_TEXTS
      ? findText(block, layout, encoder.encode(key.key))
      : findId(block, layout, key.keyId);
  if (index < 0) return null;
  const { valuesFrom, count, indexesFrom } = columnAt(block, layout, index);
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

/** The index of the key with this id, or -1. */
function findId(block: Uint8Array, layout: SegmentLayout, keyId: number): number {
  if (layout.keysField === IDS_LISTED)
    return new Uint32Array(block.buffer, block.byteOffset + layout.directoryAt, layout.keys).indexOf(keyId);
  const index = keyId - layout.keysField;
  return index < layout.keys ? index : -1;
}

/** The index of the key with these bytes, or -1. */
function findText(block: Uint8Array, layout: SegmentLayout, wanted: Uint8Array): number {
  let textAt = layout.tailAt;
  for (let key = 0; key < layout.keys; key++) {
    const at = layout.directoryAt + 4 * key;
    const length = block[at]! | (block[at + 1]! << 8);
    if (length === wanted.length && holdsAt(block, textAt, wanted)) return key;
    textAt += length;
  }
  return -1;
}

function holdsAt(block: Uint8Array, at: number, wanted: Uint8Array): boolean {
  if (at + wanted.length > block.length) return false;
  for (let i = 0; i < wanted.length; i++) if (block[at + i] !== wanted[i]) return false;
  return true;
}

/** Where the values and point indexes of the key at `index` start, as counts of them; `indexesFrom` is null when it is at every point. */
function columnAt(
  block: Uint8Array,
  layout: SegmentLayout,
  index: number,
): { valuesFrom: number; count: number; indexesFrom: number | null } {
  const { points } = layout;
  if (layout.version !== SEGMENT_VERSION_TEXTS && layout.sparseColumns === 0)
    return { valuesFrom: index * points, count: points, indexesFrom: null };
  const counts = countsOf(block, layout);
  let valuesFrom = 0;
  let column = 0;
  let indexesFrom = 0;
  for (let key = 0; key <= index; key++) {
    const isSparse = presenceAt(block, layout, key) === PRESENT_SPARSE;
    if (isSparse && column >= counts.length)
      throw codecError("the landing block names more sparse columns than it has");
    const count = isSparse ? counts[column]! : points;
    if (key === index) return { valuesFrom, count, indexesFrom: isSparse ? indexesFrom : null };
    valuesFrom += count;
    if (isSparse) {
      column++;
      indexesFrom += count;
    }
  }
  throw codecError("a column of the landing block is out of bounds");
}
