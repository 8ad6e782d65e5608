import { codecError } from "../../bytes.ts";
import { checkColumnArrays, type MetricColumns } from "../columns/metric-columns.ts";
import {
  IDS_LISTED,
  indexWidthFor,
  SEGMENT_VERSION,
  SEGMENT_VERSION_RECEIVED,
  layoutOf,
  PRESENT_SPARSE,
  writeSegmentHeader,
} from "./segment-layout.ts";
import {
  sparseColumnsOf,
  stepCodecFor,
  timeCodecFor,
  writePointIndexes,
  writeSteps,
  writeTimes,
} from "./segment-sections.ts";

const UINT32_MAX = 0xffff_ffff;

/**
 * Encodes a batch whose keys have these ids, in the order of `columns.keys`. It keeps every step, time and value bit for bit (but not the bits
 * of a NaN time) in 8 bytes per value, steps and times once per point, 4 bytes per key unless the ids are consecutive, and a point index per
 * value only for keys that are missing at some point. Throws a CodecError if the arrays do not fit together or there is not one id per key; it
 * does not look at the texts of the keys.
 */
export function encodeSegment(columns: MetricColumns, keyIds: Uint32Array): Uint8Array<ArrayBuffer> {
  const { keys, steps, timestampsUs, receivedUs, values } = columns;
  if (keyIds.length !== keys.length) throw codecError("a batch needs one id per key");
  checkColumnArrays(columns, keys.length);
  const stepCodec = stepCodecFor(steps);
  const timeCodec = timeCodecFor(timestampsUs);
  const points = steps.length;
  if (values.length > UINT32_MAX) throw codecError("the batch is too large");
  const sparse = sparseColumnsOf(columns);
  const layout = layoutOf({
    version: receivedUs === undefined ? SEGMENT_VERSION : SEGMENT_VERSION_RECEIVED,
    stepCodec,
    timeCodec: timeCodec.codec,
    indexWidth: sparse.length === 0 ? 0 : indexWidthFor(points),
    points,
    keys: keys.length,
    sparseColumns: sparse.length,
    values: values.length,
    firstId: isConsecutive(keyIds) ? keyIds[0]! : IDS_LISTED,
  });

  const buffer = new ArrayBuffer(layout.end);
  const segment = new Uint8Array(buffer);
  writeSegmentHeader(new DataView(buffer), layout);
  writeSteps(buffer, layout.stepsAt, stepCodec, steps);
  writeTimes(buffer, layout.timesAt, timeCodec, timestampsUs);
  if (receivedUs !== undefined) new Float64Array(buffer, layout.receivedAt, points).set(receivedUs);
  new Float64Array(buffer, layout.valuesAt, values.length).set(values);
  if (layout.firstId === IDS_LISTED) new Uint32Array(buffer, layout.idsAt, keyIds.length).set(keyIds);
  writePointIndexes(buffer, layout, columns, sparse);
  for (const key of sparse) segment[layout.presenceAt + key] = PRESENT_SPARSE;
  return segment;
}

/** Whether each id is one more than the previous one, so that the first one determines all. */
function isConsecutive(ids: Uint32Array): boolean {
  for (let i = 1; i < ids.length; i++) if (ids[i]! !== ids[i - 1]! + 1) return false;
  return ids.length > 0 && ids[ids.length - 1]! < IDS_LISTED;
}
