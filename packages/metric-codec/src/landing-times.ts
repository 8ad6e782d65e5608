import { TIME_ABSENT, TIMES_EACH, TIMES_NONE, TIMES_OFFSETS } from "./landing-layout.ts";

/** How the times of a block are written: the codec and, for offsets, the earliest time. */
export type TimeCodec = { readonly codec: number; readonly baseUs: number };

/**
 * The time codec that fits: nothing where no point has a time; offsets of whole microseconds from the earliest time where they give every
 * time back bit for bit, which holds for batches that span less than 71 minutes; else each time.
 */
export function timeCodecFor(timestampsUs: Float64Array): TimeCodec {
  let baseUs = Infinity;
  for (const time of timestampsUs) if (time < baseUs) baseUs = time;
  if (baseUs === Infinity) {
    return { codec: timestampsUs.every(Number.isNaN) ? TIMES_NONE : TIMES_EACH, baseUs: 0 };
  }
  if (timestampsUs.length < 3) return { codec: TIMES_EACH, baseUs };
  for (const time of timestampsUs) {
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

/** The times of `points` points at byte `at` of an aligned block: empty without any, a view where each was written, otherwise new. */
export function readTimes(block: Uint8Array, at: number, codec: number, points: number): Float64Array {
  if (codec === TIMES_NONE) return new Float64Array(0);
  const start = block.byteOffset + at;
  if (codec === TIMES_EACH) return new Float64Array(block.buffer, start, points);
  const baseUs = new Float64Array(block.buffer, start, 1)[0]!;
  const offsets = new Uint32Array(block.buffer, start + 8, points);
  const timestampsUs = new Float64Array(points);
  for (let i = 0; i < points; i++) {
    const offset = offsets[i]!;
    timestampsUs[i] = offset === TIME_ABSENT ? Number.NaN : baseUs + offset;
  }
  return timestampsUs;
}
