import { codecError } from "../codec-error.ts";
import { DIRECTORY_ENTRY_BYTES } from "../storage-layout.ts";

/*
 * A metric block holds points of several keys of one run: a stripe of consecutive key ids, and stretches of their points in the order of
 * arrival. The points (steps and times, the axis) are written once, then one section per key. All numbers are little-endian, and every part
 * starts at a multiple of 8, so that it can be read alone and, on an aligned buffer, viewed.
 *
 *   at         size         what
 *    0         u8           version, 1
 *    1         u8 x 3       0
 *    4         u32 x 7      first key id of the stripe; width, its number of slots; points; values in all;
 *                             steps end; axis end; bytes of the block
 *   32         numbers      steps of all points
 *   steps end  numbers      received: when the server received each point, in microseconds since the Unix epoch
 *              section      client times of the points that have one
 *   axis end   8 x width    directory: per slot u32 offset of the key's section from the start of the block, and u32 bytes of it;
 *                             both 0 when the block has nothing of the key
 *              section      per key that the block has, by its id
 *
 * Numbers are written as number-layout.ts tells. A section is numbers, and which points they belong to:
 *
 *              numbers      the values, in the order of the points; their presence byte p tells what follows
 *   p = 0      -            a value at every point (for client times without a value: at none)
 *   p > 0      u32 x 2      the first point's index, and the smallest distance of an index from the one before it
 *              bits         the other distances less that one, p - 1 bits each, packed and filled up to a multiple of 8 bytes
 *
 * The heads of a block are kept beside it: chunk-head.ts.
 *
 * A new way to write numbers takes a new code there; a new arrangement takes a new version here. A reader refuses what it does not know.
 */

/** The first byte of a metric block. */
const BLOCK_VERSION = 1;
/** Bytes before the steps. */
export const BLOCK_HEADER_BYTES = 32;
/** 32-bit words of an entry in the directory: where the section of a key starts, and its bytes. */
export const DIRECTORY_ENTRY_WORDS = DIRECTORY_ENTRY_BYTES / 4;
/** The most points of a block: what a reader reserves memory for cannot be told from the size of constant numbers. */
export const BLOCK_POINTS_MAX = 65_536;
/** The most values of a block, for the same reason. */
export const BLOCK_VALUES_MAX = 4_194_304;
/** The most slots of a stripe. */
export const BLOCK_WIDTH_MAX = 65_536;

/** What the header of a block says. */
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
 * Reads the header from the first bytes of a block, all of it or only up to the end of its steps. Throws a CodecError when they are cut
 * short, of another version, or say impossible things.
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
