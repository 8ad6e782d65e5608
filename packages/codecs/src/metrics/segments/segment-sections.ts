import { codecError } from "../../bytes.ts";
import { valueCountOf, type MetricColumns } from "../columns/metric-columns.ts";
import {
  PRESENT_EVERYWHERE,
  PRESENT_SPARSE,
  SEGMENT_VERSION_RECEIVED,
  STEPS_EACH,
  STEPS_STRIDED,
  TIMES_EACH,
  TIMES_NONE,
  TIMES_OFFSETS,
  TIME_ABSENT,
  type SegmentLayout,
} from "./segment-layout.ts";

/** Returns the same bytes at a multiple of 8 in their buffer, where sections can be viewed as numbers. Copies only if they are not. */
export function aligned(bytes: Uint8Array): Uint8Array {
  return bytes.byteOffset % 8 === 0 ? bytes : new Uint8Array(bytes);
}

/** Returns the presence code of each key. Throws a CodecError for an unknown code. */
export function presenceOf(segment: Uint8Array, layout: SegmentLayout): Uint8Array {
  const presence = new Uint8Array(layout.keys);
  if (layout.sparseColumns === 0) return presence;
  for (let key = 0; key < presence.length; key++) presence[key] = presenceAt(segment, layout, key);
  return presence;
}

/** Returns the presence code of one key. Throws a CodecError if it is unknown. */
export function presenceAt(segment: Uint8Array, layout: SegmentLayout, key: number): number {
  const presence = layout.sparseColumns === 0 ? PRESENT_EVERYWHERE : segment[layout.presenceAt + key]!;
  if (presence !== PRESENT_EVERYWHERE && presence !== PRESENT_SPARSE)
    throw codecError("the segment has an unknown presence code");
  return presence;
}

/** Returns the number of values of each sparse column. */
export function countsOf(segment: Uint8Array, layout: SegmentLayout): Uint32Array {
  return new Uint32Array(segment.buffer, segment.byteOffset + layout.countsAt, layout.sparseColumns);
}

/** Returns the point indexes of one sparse column, which starts `from` indexes into their section. */
export function readIndexes(segment: Uint8Array, layout: SegmentLayout, from: number, count: number): Uint32Array {
  const at = layout.indexesAt + layout.indexWidth * from;
  if (at + layout.indexWidth * count > layout.presenceAt)
    throw codecError("point indexes of the segment are out of bounds");
  const start = segment.byteOffset + at;
  return layout.indexWidth === 2
    ? Uint32Array.from(new Uint16Array(segment.buffer, start, count))
    : new Uint32Array(segment.buffer, start, count);
}

/** Returns the indexes of the keys that are missing at some point. */
export function sparseColumnsOf(columns: MetricColumns): number[] {
  const sparse: number[] = [];
  if (columns.offsets.length === 0) return sparse;
  for (let key = 0; key < columns.keys.length; key++) {
    if (valueCountOf(columns, key) !== columns.steps.length) sparse.push(key);
  }
  return sparse;
}

/** Writes the number of values of each sparse column and the points of these values. */
export function writePointIndexes(
  buffer: ArrayBuffer,
  layout: SegmentLayout,
  columns: MetricColumns,
  sparse: readonly number[],
): void {
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

/** Chooses the step codec: first and stride if that restores every step bit for bit and is smaller, else each step. */
export function stepCodecFor(steps: Float64Array): number {
  if (steps.length < 3) return STEPS_EACH;
  const first = steps[0]!;
  const stride = steps[1]! - first;
  if (!Number.isFinite(stride)) return STEPS_EACH;
  for (let i = 0; i < steps.length; i++) {
    if (!Object.is(steps[i]!, first + i * stride)) return STEPS_EACH;
  }
  return STEPS_STRIDED;
}

/** Writes the steps at byte `at`, a multiple of 8. */
export function writeSteps(buffer: ArrayBuffer, at: number, codec: number, steps: Float64Array): void {
  if (codec === STEPS_EACH) new Float64Array(buffer, at, steps.length).set(steps);
  else new Float64Array(buffer, at, 2).set([steps[0]!, steps[1]! - steps[0]!]);
}

/** Reads the steps of `points` points at byte `at` of an aligned segment: a view of it if each step was written, else a new array. */
export function readSteps(segment: Uint8Array, at: number, codec: number, points: number): Float64Array {
  if (codec === STEPS_EACH) return new Float64Array(segment.buffer, segment.byteOffset + at, points);
  const [first = 0, stride = 0] = new Float64Array(segment.buffer, segment.byteOffset + at, 2);
  const steps = new Float64Array(points);
  for (let i = 0; i < points; i++) steps[i] = first + i * stride;
  return steps;
}

/** How the times of a segment are written: the codec, and the earliest time for offsets. */
export type TimeCodec = { readonly codec: number; readonly baseUs: number };

/**
 * Chooses the time codec: none if no point has a time; offsets of whole microseconds from the earliest time if they restore every time bit for
 * bit, which needs a batch that spans less than 71 minutes; else each time.
 */
export function timeCodecFor(timestampsUs: Float64Array): TimeCodec {
  let baseUs = Infinity;
  for (let i = 0; i < timestampsUs.length; i++) if (timestampsUs[i]! < baseUs) baseUs = timestampsUs[i]!;
  if (baseUs === Infinity) {
    return { codec: timestampsUs.every(Number.isNaN) ? TIMES_NONE : TIMES_EACH, baseUs: 0 };
  }
  if (timestampsUs.length < 3) return { codec: TIMES_EACH, baseUs };
  for (let i = 0; i < timestampsUs.length; i++) {
    const time = timestampsUs[i]!;
    if (Number.isNaN(time)) continue;
    const offset = time - baseUs;
    const exact = offset >>> 0 === offset && offset !== TIME_ABSENT && Object.is(baseUs + offset, time);
    if (!exact) return { codec: TIMES_EACH, baseUs };
  }
  return { codec: TIMES_OFFSETS, baseUs };
}

/** Writes the times at byte `at`, a multiple of 8. */
export function writeTimes(
  buffer: ArrayBuffer,
  at: number,
  { codec, baseUs }: TimeCodec,
  timestampsUs: Float64Array,
): void {
  if (codec === TIMES_EACH) new Float64Array(buffer, at, timestampsUs.length).set(timestampsUs);
  if (codec !== TIMES_OFFSETS) return;
  new Float64Array(buffer, at, 1)[0] = baseUs;
  const offsets = new Uint32Array(buffer, at + 8, timestampsUs.length);
  for (let i = 0; i < offsets.length; i++) {
    const time = timestampsUs[i]!;
    offsets[i] = Number.isNaN(time) ? TIME_ABSENT : time - baseUs;
  }
}

/** Reads the times of `points` points at byte `at` of an aligned segment: empty if there are none, a view if each was written, else a new array. */
export function readTimes(segment: Uint8Array, at: number, codec: number, points: number): Float64Array {
  if (codec === TIMES_NONE) return new Float64Array(0);
  const start = segment.byteOffset + at;
  if (codec === TIMES_EACH) return new Float64Array(segment.buffer, start, points);
  const baseUs = new Float64Array(segment.buffer, start, 1)[0]!;
  const offsets = new Uint32Array(segment.buffer, start + 8, points);
  const timestampsUs = new Float64Array(points);
  for (let i = 0; i < points; i++) {
    const offset = offsets[i]!;
    timestampsUs[i] = offset === TIME_ABSENT ? Number.NaN : baseUs + offset;
  }
  return timestampsUs;
}

/** Returns when the points of an aligned segment were received, if the segment records it for each. */
export function readReceived(
  segment: Uint8Array,
  { version, receivedAt, points }: SegmentLayout,
): Float64Array | undefined {
  if (version !== SEGMENT_VERSION_RECEIVED) return undefined;
  return new Float64Array(segment.buffer, segment.byteOffset + receivedAt, points);
}
