import { codecError } from "../../bytes.ts";
import { DIRECTORY_ENTRY_BYTES } from "../storage-layout.ts";

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
