import { codecError } from "./codec-error.ts";
import { checkColumns, valueCountOf } from "./columns.ts";
import type { MetricColumns } from "./columns.ts";
import { packKeys } from "./landing-keys.ts";
import {
  indexWidthFor,
  layoutOf,
  PRESENT_EVERYWHERE,
  PRESENT_SPARSE,
  VALUES_RAW,
  writeHeader,
} from "./landing-layout.ts";
import type { LandingLayout } from "./landing-layout.ts";
import { stepCodecFor, writeSteps } from "./landing-steps.ts";
import { timeCodecFor, writeTimes } from "./landing-times.ts";

const UINT32_MAX = 0xffff_ffff;

/**
 * The landing block of a batch: every step, time and value bit for bit (a NaN time has no bits to keep), 8 bytes per value, steps and times
 * once per point, 4 bytes and its text per key, and a point index per value only for keys that are missing at some point. Throws a
 * CodecError when the columns do not have the promised form, a key has a lone surrogate or more than 65,535 bytes.
 */
export function encodeLanding(columns: MetricColumns): Uint8Array<ArrayBuffer> {
  checkColumns(columns);
  const { keys, steps, timestampsUs, values } = columns;
  const packed = packKeys(keys);
  const stepCodec = stepCodecFor(steps);
  const timeCodec = timeCodecFor(timestampsUs);
  const points = steps.length;
  if (values.length > UINT32_MAX || packed.bytes.length > UINT32_MAX) throw codecError("the batch is too large");
  const sparse = sparseColumnsOf(columns);
  const layout = layoutOf({
    stepCodec,
    timeCodec: timeCodec.codec,
    indexWidth: sparse.length === 0 ? 0 : indexWidthFor(points),
    points,
    keys: keys.length,
    sparseColumns: sparse.length,
    values: values.length,
    keyBytes: packed.bytes.length,
  });

  const buffer = new ArrayBuffer(layout.end);
  const block = new Uint8Array(buffer);
  writeHeader(new DataView(buffer), layout);
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
  writeSparse(buffer, layout, columns, sparse);
  block.set(packed.bytes, layout.keysAt);
  return block;
}

/** The keys, by index, that are missing at some point. */
function sparseColumnsOf(columns: MetricColumns): number[] {
  const sparse: number[] = [];
  if (columns.offsets.length === 0) return sparse;
  for (let key = 0; key < columns.keys.length; key++) {
    if (valueCountOf(columns, key) !== columns.steps.length) sparse.push(key);
  }
  return sparse;
}

function writeSparse(buffer: ArrayBuffer, layout: LandingLayout, columns: MetricColumns, sparse: number[]): void {
  const counts = new Uint32Array(buffer, layout.countsAt, sparse.length);
  const Indexes = layout.indexWidth === 2 ? Uint16Array : Uint32Array;
  let at = layout.indexesAt;
  sparse.forEach((key, i) => {
    const from = columns.offsets[key]!;
    const count = valueCountOf(columns, key);
    counts[i] = count;
    new Indexes(buffer, at, count).set(columns.pointIndexes.subarray(from, from + count));
    at += layout.indexWidth * count;
  });
}
