import { codecError } from "../../bytes/codec-error.ts";
import { checkPointIndexes } from "../columns/metric-columns.ts";
import { aligned, countsOf, presenceAt, readIndexes, readReceived, readSteps, readTimes } from "./segment-sections.ts";
import { IDS_LISTED, PRESENT_SPARSE, readLayout, type SegmentLayout } from "./segment-layout.ts";
import { pick } from "../columns/block-columns.ts";

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
