import { codecError } from "./codec-error.ts";
import { checkColumns } from "./columns.ts";
import type { MetricColumns } from "./columns.ts";
import { packKeys } from "./landing-keys.ts";
import {
  indexWidthFor,
  SEGMENT_VERSION_TEXTS,
  layoutOf,
  PRESENT_EVERYWHERE,
  PRESENT_SPARSE,
  VALUES_RAW,
  writeSegmentHeader,
} from "./landing-layout.ts";
import { sparseColumnsOf, writePointIndexes } from "./landing-sparse.ts";
import { stepCodecFor, writeSteps } from "./landing-steps.ts";
import { timeCodecFor, writeTimes } from "./landing-times.ts";

const UINT32_MAX = 0xffff_ffff;

/**
 * A landing block of version 1, which holds the texts of its keys, as it was written before keys had ids: for whoever has to show that stored
 * blocks stay readable. Throws a CodecError when the columns do not have the promised form, a key has a lone surrogate or more than 65,535
 * bytes.
 */
export function encodeSegmentTexts(columns: MetricColumns): Uint8Array<ArrayBuffer> {
  checkColumns(columns);
  const { keys, steps, timestampsUs, values } = columns;
  const packed = packKeys(keys);
  const stepCodec = stepCodecFor(steps);
  const timeCodec = timeCodecFor(timestampsUs);
  const points = steps.length;
  if (values.length > UINT32_MAX || packed.bytes.length > UINT32_MAX) throw codecError("the batch is too large");
  const sparse = sparseColumnsOf(columns);
  const layout = layoutOf({
    version: SEGMENT_VERSION_TEXTS,
    stepCodec,
    timeCodec: timeCodec.codec,
    indexWidth: sparse.length === 0 ? 0 : indexWidthFor(points),
    points,
    keys: keys.length,
    sparseColumns: sparse.length,
    values: values.length,
    keysField: packed.bytes.length,
  });

  const buffer = new ArrayBuffer(layout.end);
  const block = new Uint8Array(buffer);
  writeSegmentHeader(new DataView(buffer), layout);
  writeSteps(buffer, layout.stepsAt, stepCodec, steps);
  writeTimes(buffer, layout.timesAt, timeCodec, timestampsUs);
  new Float64Array(buffer, layout.valuesAt, values.length).set(values);
  const directory = new DataView(buffer, layout.directoryAt, 4 * keys.length);
  for (let key = 0; key < keys.length; key++) {
    directory.setUint16(4 * key, packed.lengths[key]!, true);
    directory.setUint8(4 * key + 2, PRESENT_EVERYWHERE);
    directory.setUint8(4 * key + 3, VALUES_RAW);
  }
  for (const key of sparse) directory.setUint8(4 * key + 2, PRESENT_SPARSE);
  writePointIndexes(buffer, layout, columns, sparse);
  block.set(packed.bytes, layout.tailAt);
  return block;
}
