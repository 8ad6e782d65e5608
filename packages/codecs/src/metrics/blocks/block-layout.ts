/*
 * A metric block holds points of a range of consecutive key ids of one run, in the order of arrival. The points (steps and times, the axis) are
 * written once, then one section for each key. All numbers are little-endian, and every part starts at a multiple of 8, so that it can be read
 * alone and, on an aligned buffer, viewed.
 *
 *   at         size         what
 *    0         u8           version, 1
 *    1         u8 x 3       0
 *    4         u32 x 7      first key id of the key range; its width (slots); points; values in all;
 *                             steps end; axis end; bytes of the block
 *   32         numbers      steps of all points
 *   steps end  numbers      received: when the server received each point, in microseconds since the Unix epoch
 *              section      client times of the points that have one
 *   axis end   8 x width    directory: per slot u32 offset of the key's section from the start of the block, and u32 bytes of it;
 *                             both 0 if the block does not have the key
 *              section      for each key that the block has, by ascending id
 *
 * numbers/number-layout.ts describes how numbers are written. A section is numbers and the points that they belong to:
 *
 *              numbers      the values, in the order of the points; their presence byte p says what follows
 *   p = 0      -            a value at every point (for client times without a value: at none)
 *   p > 0      u32 x 2      the first point's index, and the smallest distance of an index from the one before it
 *              bits         the other distances less that one, p - 1 bits each, packed and filled up to a multiple of 8 bytes
 *
 * The statistics of a block's chunks are stored next to it: chunk-statistics.ts.
 *
 * A new way to write numbers needs a new code there; a new arrangement needs a new version here. A reader refuses unknown codes and versions.
 */

import { codecError } from "../../bytes.ts";
import { DIRECTORY_ENTRY_BYTES } from "../storage-layout.ts";
import { bitWidth, packBits, packedBytes, unpackBits } from "../numbers/bit-pack.ts";
import { takeBytes, type ByteReader, type ByteWriter } from "../numbers/bytes.ts";

/** The first byte of a metric block. */
const BLOCK_VERSION = 1;
/** Bytes before the steps. */
export const BLOCK_HEADER_BYTES = 32;
/** 32-bit words of an entry in the directory: where the section of a key starts, and its bytes. */
export const DIRECTORY_ENTRY_WORDS = DIRECTORY_ENTRY_BYTES / 4;
/** The most points of a block. Readers allocate memory for them, and constant numbers take few bytes however many they are. */
export const BLOCK_POINTS_MAX = 65_536;
/** The most values of a block, for the same reason. */
export const BLOCK_VALUES_MAX = 4_194_304;
/** The widest key range of a block. */
export const BLOCK_WIDTH_MAX = 65_536;

/** The numbers of a block's header. */
export type BlockHeader = {
  readonly firstKey: number;
  readonly width: number;
  readonly points: number;
  readonly values: number;
  readonly stepsEnd: number;
  readonly axisEnd: number;
  readonly bytes: number;
};

/** Writes the header into a block whose other bytes are already in place. */
export function writeBlockHeader(u32: Uint32Array, header: BlockHeader): void {
  u32[0] = BLOCK_VERSION;
  u32[1] = header.firstKey;
  u32[2] = header.width;
  u32[3] = header.points;
  u32[4] = header.values;
  u32[5] = header.stepsEnd;
  u32[6] = header.axisEnd;
  u32[7] = header.bytes;
}

/**
 * Reads the header from the first bytes of a block, which may end with the steps. Throws a CodecError if they are cut short, of another
 * version, or contradict themselves.
 */
export function readBlockHeader(bytes: Uint8Array): BlockHeader {
  if (bytes.length < 1) throw codecError("the metric block is empty");
  if (bytes[0] !== BLOCK_VERSION) throw codecError("the metric block has an unknown version");
  if (bytes.length < BLOCK_HEADER_BYTES) throw codecError("the metric block is cut short");
  const view = new DataView(bytes.buffer, bytes.byteOffset, BLOCK_HEADER_BYTES);
  const number = (index: number): number => view.getUint32(4 * index, true);
  if (number(0) !== BLOCK_VERSION) throw codecError("the metric block has an unknown version");
  const header: BlockHeader = {
    firstKey: number(1),
    width: number(2),
    points: number(3),
    values: number(4),
    stepsEnd: number(5),
    axisEnd: number(6),
    bytes: number(7),
  };
  if (!isConsistent(header)) throw codecError("the metric block contradicts itself");
  return header;
}

function isConsistent({ firstKey, width, points, values, stepsEnd, axisEnd, bytes }: BlockHeader): boolean {
  return (
    firstKey + width <= 0x1_0000_0000 &&
    width <= BLOCK_WIDTH_MAX &&
    points <= BLOCK_POINTS_MAX &&
    values <= BLOCK_VALUES_MAX &&
    points <= values &&
    values <= points * width &&
    stepsEnd % 8 === 0 &&
    axisEnd % 8 === 0 &&
    bytes % 8 === 0 &&
    BLOCK_HEADER_BYTES < stepsEnd &&
    stepsEnd < axisEnd &&
    axisEnd + DIRECTORY_ENTRY_BYTES * width <= bytes
  );
}

const EVERYWHERE = 0;

/** Returns the most bytes that {@link writePresence} writes for `count` values. */
export function presenceBytesMax(count: number): number {
  return 8 + packedBytes(count, 32);
}

/**
 * Writes the points of the numbers that start at byte `numbersAt`: their ascending indexes, at least one, or null if there is a number for
 * each point.
 */
export function writePresence(writer: ByteWriter, numbersAt: number, indexes: Uint32Array | null): void {
  if (indexes === null) return;
  const count = indexes.length - 1;
  let smallest = 0xffff_ffff;
  let largest = 1;
  for (let i = 0; i < count; i++) {
    const distance = indexes[i + 1]! - indexes[i]!;
    if (distance < smallest) smallest = distance;
    if (distance > largest) largest = distance;
  }
  if (count === 0) smallest = 1;
  const width = bitWidth(largest - smallest);
  writer.u8[numbersAt + 3] = 1 + width;
  writer.u32[writer.at / 4] = indexes[0]!;
  writer.u32[writer.at / 4 + 1] = smallest;
  if (width > 0) {
    const distances = new Int32Array(count);
    for (let i = 0; i < count; i++) distances[i] = indexes[i + 1]! - indexes[i]! - smallest;
    packBits(writer.i32, writer.at / 4 + 2, distances, count, width);
  }
  writer.at += 8 + packedBytes(count, width);
}

/** Returns whether the presence byte says that there is a number for each point. Throws a CodecError if `count` contradicts that. */
export function isEverywhere(presence: number, count: number, points: number): boolean {
  if (presence !== EVERYWHERE) return false;
  if (count !== points) throw codecError("a part of the metric block has a wrong number of values");
  return true;
}

/**
 * Reads the indexes of the points of `count` numbers that are not at every point into `target` from `at` on. Throws a CodecError unless they
 * ascend strictly below `points`.
 */
export function readPresence(
  reader: ByteReader,
  presence: number,
  points: number,
  target: Uint32Array,
  at: number,
  count: number,
): void {
  const width = presence - 1;
  if (presence === EVERYWHERE || width > 32 || count === 0)
    throw codecError("the metric block has an unknown presence code");
  const from = takeBytes(reader, 8 + packedBytes(count - 1, width)) / 4;
  const smallest = reader.u32[from + 1]!;
  const distances = width === 0 ? null : unpackBits(reader.i32, from + 2, count - 1, width, reader.memory);
  let index = reader.u32[from]!;
  target[at] = index;
  // The loop ends at the first index beyond `points`, long before sums are no longer exact.
  for (let i = 1; i < count && index < points; i++) {
    index += distances === null ? smallest : smallest + (distances[i - 1]! >>> 0);
    target[at + i] = index;
  }
  if (index >= points || smallest === 0) throw codecError("a point index of the metric block is out of range");
}
