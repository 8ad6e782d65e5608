import { EMPTY_F64 } from "./block-columns.ts";
import { readBlockHeader } from "./block-layout.ts";
import { createByteReader } from "./byte-reader.ts";
import { codecError } from "./codec-error.ts";
import { readSection, readSteps, readTimes } from "./decode-block.ts";
import type { ScratchBuffer } from "./number-room.ts";
import { pick } from "./pick.ts";

/** The parts of a block that one key is read from. */
export type BlockKeyParts = {
  /** The block's bytes up to `stepsEnd`. */
  readonly steps: Uint8Array;
  /** Those from `stepsEnd` to `axisEnd`; null when the times are not wanted. */
  readonly times: Uint8Array | null;
  /** The key's section; empty when the block has nothing of the key. */
  readonly section: Uint8Array;
};

/** One key's points of a block in the order of their arrival; both times are empty when not wanted, the client's also when no point has one. */
export type BlockSeries = {
  readonly steps: Float64Array;
  readonly values: Float64Array;
  readonly receivedUs: Float64Array;
  readonly timestampsUs: Float64Array;
};

/**
 * The points of one key from parts of a block. Shares the parts, which must then not change, and lies in `memory` if there is one, which is used
 * again from its begin on. Throws a CodecError for parts that are none of an encoded block, or do not belong together.
 */
export function decodeBlockKey(parts: BlockKeyParts, memory?: ScratchBuffer): BlockSeries {
  memory?.reuse();
  const header = readBlockHeader(parts.steps);
  if (header.stepsEnd !== parts.steps.length) throw codecError("a part of the metric block has a wrong size");
  if (parts.section.length === 0)
    return { steps: EMPTY_F64, values: EMPTY_F64, receivedUs: EMPTY_F64, timestampsUs: EMPTY_F64 };
  const { points } = header;
  const { values, indexes } = readSection(createByteReader(parts.section, memory), points);
  const at = (numbers: Float64Array): Float64Array =>
    indexes === null || numbers.length === 0 ? numbers : pick(numbers, indexes);
  const steps = at(readSteps(createByteReader(parts.steps, memory), header));
  if (parts.times === null) return { steps, values, receivedUs: EMPTY_F64, timestampsUs: EMPTY_F64 };
  const { receivedUs, timestampsUs } = readTimes(createByteReader(parts.times, memory), 0, parts.times.length, points);
  return { steps, values, receivedUs: at(receivedUs), timestampsUs: at(timestampsUs) };
}
