import { codecError } from "../../bytes.ts";

/*
 * A landing segment holds one batch of metric points as it was accepted. All numbers are little-endian. Sections follow one another without
 * gaps, and each starts at a multiple of its number size, so that an aligned buffer can be viewed instead of copied.
 *
 *   at  size                      what
 *    0  u8                        version: 1, or 2 where the segment says when each point was received
 *    1  u8                        step codec: 0 each, 1 first and stride
 *    2  u8                        time codec: 0 none, 1 each (NaN: none), 2 a base and u32 offsets (all ones: none)
 *    3  u8                        width of a point index in bytes: 0 without sparse columns, 2 for up to 65,536 points, else 4
 *    4  u32 x 5                   points; keys; sparse columns; values in all; the first id where the ids are consecutive, else all ones
 *   24  8 x points, or 16         steps: f64 each, or first and stride
 *       0, 8 x points, or         times: nothing, f64 each,
 *         8 + 4 x points            or f64 base and u32 each, filled up to a multiple of 8
 *       0 or 8 x points           version 2: when the server received each point, f64; otherwise the row of the segment has it for all points
 *       8 x values                values, f64, grouped by key in the order of the keys' texts
 *       4 x sparse columns        u32: number of values of each sparse column
 *       0 or 4 x keys             u32: the id of each key, unless they are consecutive
 *       width x sparse values     point index of each value of the sparse columns
 *       0 or 1 x keys             u8 presence of each key (0 at every point, 1 sparse), if any is sparse
 *
 * A new way to write steps or times needs a new code; a new arrangement needs a new version. A reader refuses unknown codes and versions.
 */

/** The first byte of a segment in the form that is written for points that arrive together. */
export const SEGMENT_VERSION = 1;
/** The first byte of a segment whose points were received at different times, before they were restored. */
export const SEGMENT_VERSION_RECEIVED = 2;
const SEGMENT_VERSIONS = [SEGMENT_VERSION, SEGMENT_VERSION_RECEIVED];
/** Bytes before the first section. */
export const SEGMENT_HEADER_BYTES = 24;

export const STEPS_EACH = 0;
export const STEPS_STRIDED = 1;
export const TIMES_NONE = 0;
export const TIMES_EACH = 1;
export const TIMES_OFFSETS = 2;
/** The u32 offset that means "this point has no time". */
export const TIME_ABSENT = 0xffff_ffff;
export const PRESENT_EVERYWHERE = 0;
export const PRESENT_SPARSE = 1;
/** Replaces the first id if the ids are listed. */
export const IDS_LISTED = 0xffff_ffff;

/** The numbers of the header. `firstId` may be {@link IDS_LISTED}. */
export type SegmentHeader = {
  readonly version: number;
  readonly stepCodec: number;
  readonly timeCodec: number;
  readonly indexWidth: number;
  readonly points: number;
  readonly keys: number;
  readonly sparseColumns: number;
  readonly values: number;
  readonly firstId: number;
};

/** The header and where each section starts, in bytes; `end` is the size of the segment. */
export type SegmentLayout = SegmentHeader & {
  readonly stepsAt: number;
  readonly timesAt: number;
  readonly receivedAt: number;
  readonly valuesAt: number;
  readonly countsAt: number;
  readonly idsAt: number;
  readonly indexesAt: number;
  readonly presenceAt: number;
  readonly end: number;
};

if (new Uint8Array(new Uint16Array([1]).buffer)[0] !== 1) {
  throw new Error("stored metrics are little-endian and this machine is not");
}

/** Returns where the sections of a segment with this header are. */
export function layoutOf(header: SegmentHeader): SegmentLayout {
  const { version, points, keys, sparseColumns, values, firstId } = header;
  const stepsAt = SEGMENT_HEADER_BYTES;
  const timesAt = stepsAt + (header.stepCodec === STEPS_STRIDED ? 16 : 8 * points);
  const receivedAt = timesAt + timeSectionBytes(header.timeCodec, points);
  const valuesAt = receivedAt + (version === SEGMENT_VERSION_RECEIVED ? 8 * points : 0);
  const countsAt = valuesAt + 8 * values;
  const idsAt = countsAt + 4 * sparseColumns;
  const indexesAt = idsAt + (firstId === IDS_LISTED ? 4 * keys : 0);
  const presenceAt = indexesAt + header.indexWidth * (values - (keys - sparseColumns) * points);
  const end = presenceAt + (sparseColumns === 0 ? 0 : keys);
  return { ...header, stepsAt, timesAt, receivedAt, valuesAt, countsAt, idsAt, indexesAt, presenceAt, end };
}

/** Returns the bytes of a point index in a segment of `points` points that has sparse columns. */
export function indexWidthFor(points: number): number {
  return points <= 0x1_0000 ? 2 : 4;
}

/** Writes the header. */
export function writeSegmentHeader(view: DataView, header: SegmentHeader): void {
  view.setUint8(0, header.version);
  view.setUint8(1, header.stepCodec);
  view.setUint8(2, header.timeCodec);
  view.setUint8(3, header.indexWidth);
  view.setUint32(4, header.points, true);
  view.setUint32(8, header.keys, true);
  view.setUint32(12, header.sparseColumns, true);
  view.setUint32(16, header.values, true);
  view.setUint32(20, header.firstId, true);
}

/**
 * Reads the header and checks it against itself and the size of the segment, so that every section is inside. Throws a CodecError if the
 * segment is cut short, too long, of another version, or contradicts itself.
 */
export function readLayout(segment: Uint8Array): SegmentLayout {
  if (segment.length < 1) throw codecError("the segment is empty");
  const version = segment[0]!;
  if (!SEGMENT_VERSIONS.includes(version)) throw codecError("the segment has an unknown version");
  if (segment.length < SEGMENT_HEADER_BYTES) throw codecError("the segment is cut short");
  const view = new DataView(segment.buffer, segment.byteOffset, SEGMENT_HEADER_BYTES);
  const header: SegmentHeader = {
    version,
    stepCodec: view.getUint8(1),
    timeCodec: view.getUint8(2),
    indexWidth: view.getUint8(3),
    points: view.getUint32(4, true),
    keys: view.getUint32(8, true),
    sparseColumns: view.getUint32(12, true),
    values: view.getUint32(16, true),
    firstId: view.getUint32(20, true),
  };
  if (header.stepCodec > STEPS_STRIDED) throw codecError("the segment has an unknown step codec");
  if (header.timeCodec > TIMES_OFFSETS) throw codecError("the segment has an unknown time codec");
  if (header.indexWidth !== (header.sparseColumns === 0 ? 0 : indexWidthFor(header.points))) {
    throw codecError("the segment has a wrong point index width");
  }
  if (!isConsistent(header)) throw codecError("the segment contradicts itself");
  const layout = layoutOf(header);
  if (layout.end !== segment.length) throw codecError("the segment has another size than it says");
  return layout;
}

function isConsistent({ points, keys, sparseColumns, values, firstId }: SegmentHeader): boolean {
  const sparseValues = values - (keys - sparseColumns) * points;
  return (
    sparseColumns <= keys &&
    points <= values &&
    (points > 0 || keys === 0) &&
    sparseValues >= sparseColumns &&
    (sparseColumns > 0 || sparseValues === 0) &&
    (firstId === IDS_LISTED || firstId + keys <= IDS_LISTED)
  );
}

function timeSectionBytes(codec: number, points: number): number {
  if (codec === TIMES_NONE) return 0;
  return codec === TIMES_EACH ? 8 * points : 8 + 8 * Math.ceil(points / 2);
}
