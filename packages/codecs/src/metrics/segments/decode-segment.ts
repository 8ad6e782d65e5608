import { codecError } from "../../bytes.ts";
import { EMPTY_U32, copyNumbers, type BlockColumns, pick } from "../columns/block-columns.ts";
import { checkPointIndexes, type MetricColumns } from "../columns/metric-columns.ts";
import { IDS_LISTED, PRESENT_SPARSE, readLayout, type SegmentLayout } from "./segment-layout.ts";
import {
  aligned,
  countsOf,
  presenceOf,
  readIndexes,
  readReceived,
  readSteps,
  readTimes,
  presenceAt,
} from "./segment-sections.ts";

/**
 * A batch as a segment holds it: MetricColumns whose keys are named by `keyIds`, which are in the order of the columns and need not ascend; a
 * damaged segment may repeat one.
 */
export type SegmentColumns = Omit<MetricColumns, "keys"> & { readonly keyIds: Uint32Array };

/**
 * Decodes a segment of any version. The arrays may be views of `bytes`, which must then not change; bytes that do not start at a multiple of
 * 8 in their buffer are copied once. Throws a CodecError for bytes that were not written as a segment: cut short, too long, of an unknown
 * version or codec, or contradicting themselves. Damage inside a number cannot be detected.
 */
export function decodeSegment(bytes: Uint8Array): SegmentColumns {
  const layout = readLayout(bytes);
  const segment = aligned(bytes);
  const presence = presenceOf(segment, layout);
  return {
    keyIds: readIds(segment, layout),
    steps: readSteps(segment, layout.stepsAt, layout.stepCodec, layout.points),
    timestampsUs: readTimes(segment, layout.timesAt, layout.timeCodec, layout.points),
    receivedUs: readReceived(segment, layout),
    values: new Float64Array(segment.buffer, segment.byteOffset + layout.valuesAt, layout.values),
    ...readPoints(segment, layout, presence),
  };
}

function readIds(segment: Uint8Array, layout: SegmentLayout): Uint32Array {
  if (layout.firstId === IDS_LISTED)
    return new Uint32Array(segment.buffer, segment.byteOffset + layout.idsAt, layout.keys);
  // The number of keys is plausible: each has at least one value, and the values are inside the segment.
  const keyIds = new Uint32Array(layout.keys);
  for (let key = 0; key < keyIds.length; key++) keyIds[key] = layout.firstId + key;
  return keyIds;
}

/** Returns the offsets and point indexes of all keys, both empty if no key is sparse. */
function readPoints(
  segment: Uint8Array,
  layout: SegmentLayout,
  presence: Uint8Array,
): Pick<MetricColumns, "offsets" | "pointIndexes"> {
  const counts = countsOf(segment, layout);
  const sparseSeen = presence.reduce((sum, one) => sum + one, 0);
  if (sparseSeen !== layout.sparseColumns)
    throw codecError("the segment names another number of sparse columns than it has");
  if (sparseSeen === 0) return { offsets: new Uint32Array(0), pointIndexes: new Uint32Array(0) };
  const offsets = new Uint32Array(layout.keys + 1);
  const pointIndexes = new Uint32Array(layout.values);
  let to = 0;
  let column = 0;
  let indexesFrom = 0;
  for (let key = 0; key < layout.keys; key++) {
    const from = to;
    const isSparse = presence[key] === PRESENT_SPARSE;
    const count = isSparse ? counts[column++]! : layout.points;
    to = from + count;
    if (to > layout.values) throw codecError("a column of the segment is out of bounds");
    offsets[key + 1] = to;
    if (isSparse) {
      pointIndexes.set(readIndexes(segment, layout, indexesFrom, count), from);
      checkPointIndexes(pointIndexes, from, to, layout.points);
      indexesFrom += count;
    } else for (let point = 0; point < count; point++) pointIndexes[from + point] = point;
  }
  if (to !== layout.values) throw codecError("the columns of the segment do not add up");
  return { offsets, pointIndexes };
}

/**
 * Returns the points of a segment as block columns: keys sorted by their ids, every point received at `receivedUs`. The result shares arrays with
 * `segment` where possible. Throws a CodecError if two keys have the same id.
 */
export function blockColumnsOfSegment(segment: SegmentColumns, receivedUs: number): BlockColumns {
  const { keyIds: ids, steps, timestampsUs } = segment;
  const received = segment.receivedUs ?? new Float64Array(steps.length).fill(receivedUs);
  const axis = { steps, timestampsUs, receivedUs: received };
  if (isAscending(ids)) {
    const { values, offsets, pointIndexes } = segment;
    return { ...axis, keyIds: ids, values, offsets, pointIndexes };
  }
  const order = Uint32Array.from(ids, (_, i) => i).sort((a, b) => ids[a]! - ids[b]!);
  const keyIds = Uint32Array.from(order, (key) => ids[key]!);
  if (!isAscending(keyIds)) throw codecError("two keys of the segment have the same id");
  return { ...axis, keyIds, ...reordered(segment, order) };
}

/** Whether the ids ascend and are distinct. */
function isAscending(ids: Uint32Array): boolean {
  for (let i = 1; i < ids.length; i++) if (ids[i]! <= ids[i - 1]!) return false;
  return true;
}

/** Returns the values and point indexes with the columns in another order. */
function reordered(
  segment: SegmentColumns,
  order: Uint32Array,
): Pick<BlockColumns, "values" | "offsets" | "pointIndexes"> {
  const points = segment.steps.length;
  const values = new Float64Array(segment.values.length);
  if (segment.offsets.length === 0) {
    order.forEach((key, i) => copyNumbers(values, i * points, segment.values, key * points, points));
    return { values, offsets: EMPTY_U32, pointIndexes: EMPTY_U32 };
  }
  const offsets = new Uint32Array(order.length + 1);
  const pointIndexes = new Uint32Array(values.length);
  order.forEach((key, i) => {
    const from = segment.offsets[key]!;
    const count = segment.offsets[key + 1]! - from;
    const at = offsets[i]!;
    copyNumbers(values, at, segment.values, from, count);
    copyNumbers(pointIndexes, at, segment.pointIndexes, from, count);
    offsets[i + 1] = at + count;
  });
  return { values, offsets, pointIndexes };
}

/** One key's points in the order of their arrival; `timestampsUs` is empty if the batch has no times, and NaN where a point has none. */
export type MetricSeries = {
  readonly steps: Float64Array;
  readonly values: Float64Array;
  readonly timestampsUs: Float64Array;
  /** When each point was received, in segments that say so. */
  readonly receivedUs?: Float64Array;
};

/**
 * Decodes the points of one key of a segment, or returns null if the segment does not have the key. Of the other keys it reads only ids and
 * presence. Shares `bytes` and throws as decodeSegment does.
 */
export function decodeSegmentKey(bytes: Uint8Array, keyId: number): MetricSeries | null {
  const layout = readLayout(bytes);
  const segment = aligned(bytes);
  const index = findId(segment, layout, keyId);
  if (index < 0) return null;
  const { valuesFrom, count, indexesFrom } = columnAt(segment, layout, index);
  if (valuesFrom + count > layout.values) throw codecError("a column of the segment is out of bounds");
  const steps = readSteps(segment, layout.stepsAt, layout.stepCodec, layout.points);
  const timestampsUs = readTimes(segment, layout.timesAt, layout.timeCodec, layout.points);
  const values = new Float64Array(segment.buffer, segment.byteOffset + layout.valuesAt + 8 * valuesFrom, count);
  const receivedUs = readReceived(segment, layout);
  const own = (points: (column: Float64Array) => Float64Array) =>
    receivedUs === undefined ? {} : { receivedUs: points(receivedUs) };
  if (indexesFrom === null) return { steps, values, timestampsUs, ...own((column) => column) };
  const pointIndexes = readIndexes(segment, layout, indexesFrom, count);
  checkPointIndexes(pointIndexes, 0, count, layout.points);
  return {
    steps: pick(steps, pointIndexes),
    values,
    timestampsUs: timestampsUs.length === 0 ? timestampsUs : pick(timestampsUs, pointIndexes),
    ...own((column) => pick(column, pointIndexes)),
  };
}

/** Returns the index of the key with this id, or -1. */
function findId(segment: Uint8Array, layout: SegmentLayout, keyId: number): number {
  if (layout.firstId === IDS_LISTED)
    return new Uint32Array(segment.buffer, segment.byteOffset + layout.idsAt, layout.keys).indexOf(keyId);
  const index = keyId - layout.firstId;
  return index < layout.keys ? index : -1;
}

/** Returns where the values and point indexes of the key at `index` start, counted in values and indexes; `indexesFrom` is null if the key is at every point. */
function columnAt(
  segment: Uint8Array,
  layout: SegmentLayout,
  index: number,
): { valuesFrom: number; count: number; indexesFrom: number | null } {
  const { points } = layout;
  if (layout.sparseColumns === 0) return { valuesFrom: index * points, count: points, indexesFrom: null };
  const counts = countsOf(segment, layout);
  let valuesFrom = 0;
  let column = 0;
  let indexesFrom = 0;
  for (let key = 0; key <= index; key++) {
    const isSparse = presenceAt(segment, layout, key) === PRESENT_SPARSE;
    if (isSparse && column >= counts.length) throw codecError("the segment names more sparse columns than it has");
    const count = isSparse ? counts[column]! : points;
    if (key === index) return { valuesFrom, count, indexesFrom: isSparse ? indexesFrom : null };
    valuesFrom += count;
    if (isSparse) {
      column++;
      indexesFrom += count;
    }
  }
  throw codecError("a column of the segment is out of bounds");
}
