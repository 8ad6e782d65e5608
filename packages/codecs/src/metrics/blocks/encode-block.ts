import { checkBlockColumns, pick, stepRange, valuesOfKey, type BlockColumns } from "../columns/block-columns.ts";
import {
  BLOCK_HEADER_BYTES,
  BLOCK_POINTS_MAX,
  BLOCK_VALUES_MAX,
  BLOCK_WIDTH_MAX,
  DIRECTORY_ENTRY_WORDS,
  writeBlockHeader,
  presenceBytesMax,
  writePresence,
} from "./block-layout.ts";
import { createByteWriter, type ByteWriter } from "../numbers/bytes.ts";
import { writeChunkStatistics, chunkSumsOf } from "./chunk-statistics.ts";
import { codecError } from "../../bytes.ts";
import { CHUNK_STATISTICS_BYTES, DIRECTORY_ENTRY_BYTES, STATISTICS_WIDTH_MAX } from "../storage-layout.ts";
import { numberBytesMax, writeNumbers, type Effort } from "../numbers/numbers.ts";

/** The key range `[firstKey, firstKey + width)` of a block, and how hard to look for the smallest form. */
export type EncodeBlockOptions = {
  readonly firstKey: number;
  readonly width: number;
  /** "fast" for blocks that will soon be joined into larger ones; "best" takes longer and is for blocks that stay. */
  readonly effort: Effort;
};

/**
 * A block, and the data stored next to it so that only parts of it have to be read. `statistics` has the chunk statistics of each slot up to the
 * last key, 72 bytes each (zeros for an absent key), and `sums` the chunk sums, 16 bytes each; both are null for key ranges of more than 16 keys. `stepsEnd`,
 * `axisEnd`: byte offsets inside `data`. `firstStep`, `lastStep`: the lowest and the highest step.
 */
export type EncodedBlock = {
  readonly data: Uint8Array<ArrayBuffer>;
  readonly statistics: Uint8Array<ArrayBuffer> | null;
  readonly sums: Uint8Array<ArrayBuffer> | null;
  readonly stepsEnd: number;
  readonly axisEnd: number;
  readonly points: number;
  readonly valueCount: number;
  readonly firstStep: number;
  readonly lastStep: number;
};

/**
 * Encodes columns as a block, which keeps every step, time and value bit for bit (but not the bits of a NaN time). Throws a CodecError if the
 * columns do not have the promised form, are empty, have more than 65,536 points or 4,194,304 values, or have a key outside the key range.
 */
export function encodeBlock(columns: BlockColumns, options: EncodeBlockOptions): EncodedBlock {
  checkBlockColumns(columns);
  checkKeyRange(columns, options);
  const { firstKey, width, effort } = options;
  const { keyIds, steps, receivedUs, timestampsUs, values } = columns;
  const writer = createByteWriter(bytesMax(columns, width));
  writer.at = BLOCK_HEADER_BYTES;
  writeNumbers(writer, steps, effort);
  const stepsEnd = writer.at;
  writeNumbers(writer, receivedUs, effort);
  writeClientTimes(writer, timestampsUs, effort);
  const axisEnd = writer.at;
  writer.at += DIRECTORY_ENTRY_BYTES * width;
  const ascending = areAscending(steps);
  const slots = keyIds[keyIds.length - 1]! - firstKey + 1;
  const statistics = width <= STATISTICS_WIDTH_MAX ? new Float64Array(STATISTICS_NUMBERS * slots) : null;
  let from = 0;
  for (let key = 0; key < keyIds.length; key++) {
    const slot = keyIds[key]! - firstKey;
    const to = from + valuesOfKey(columns, key);
    const own = values.subarray(from, to);
    const indexes = to - from === steps.length ? null : columns.pointIndexes.subarray(from, to);
    const start = writer.at;
    writeNumbers(writer, own, effort);
    writePresence(writer, start, indexes);
    const entry = axisEnd / 4 + DIRECTORY_ENTRY_WORDS * slot;
    writer.u32[entry] = start;
    writer.u32[entry + 1] = writer.at - start;
    if (statistics !== null) {
      writeChunkStatistics(
        statistics,
        STATISTICS_NUMBERS * slot,
        indexes === null ? steps : pick(steps, indexes),
        own,
        ascending,
      );
    }
    from = to;
  }
  const [points, valueCount, bytes] = [steps.length, values.length, writer.at];
  writeBlockHeader(writer.u32, { firstKey, width, points, values: valueCount, stepsEnd, axisEnd, bytes });
  return {
    data: writer.u8.slice(0, bytes),
    statistics: statistics === null ? null : new Uint8Array(statistics.buffer),
    sums: statistics === null ? null : chunkSumsOf(columns, firstKey),
    stepsEnd,
    axisEnd,
    points,
    valueCount,
    ...stepRange(steps),
  };
}

const STATISTICS_NUMBERS = CHUNK_STATISTICS_BYTES / 8;

function checkKeyRange({ keyIds, steps, values }: BlockColumns, { firstKey, width }: EncodeBlockOptions): void {
  if (keyIds.length === 0) throw codecError("a metric block needs at least one key");
  if (steps.length > BLOCK_POINTS_MAX || values.length > BLOCK_VALUES_MAX)
    throw codecError("the metric block is too large");
  const inside = keyIds[0]! >= firstKey && keyIds[keyIds.length - 1]! < firstKey + width;
  if (!inside || width > BLOCK_WIDTH_MAX) throw codecError("a key is outside the key range of the metric block");
}

/** Returns the most bytes that the block can take, however its numbers are written. */
function bytesMax({ keyIds, steps, pointIndexes, values }: BlockColumns, width: number): number {
  const axis = 3 * numberBytesMax(steps.length) + presenceBytesMax(steps.length);
  const perKey = numberBytesMax(0) + presenceBytesMax(1);
  return (
    BLOCK_HEADER_BYTES +
    axis +
    DIRECTORY_ENTRY_BYTES * width +
    perKey * keyIds.length +
    8 * values.length +
    4 * pointIndexes.length
  );
}

/** Writes the times of the points that have one. */
function writeClientTimes(writer: ByteWriter, timestampsUs: Float64Array, effort: Effort): void {
  const present = new Uint32Array(timestampsUs.length);
  let count = 0;
  for (let point = 0; point < timestampsUs.length; point++) {
    if (!Number.isNaN(timestampsUs[point]!)) present[count++] = point;
  }
  const indexes = present.subarray(0, count);
  const start = writeNumbers(writer, pick(timestampsUs, indexes), effort);
  if (count > 0) writePresence(writer, start, count === timestampsUs.length ? null : indexes);
}

/** Whether each step is above the one before it. */
function areAscending(steps: Float64Array): boolean {
  for (let i = 1; i < steps.length; i++) if (!(steps[i]! > steps[i - 1]!)) return false;
  return true;
}
