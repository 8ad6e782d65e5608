import { codecError } from "../../bytes.ts";
import { EMPTY_F64, EMPTY_U32, copyNumbers, pick, type BlockColumns } from "../columns/block-columns.ts";
import { createByteReader, expectEnd, type ByteReader, type NumberBuffer } from "../numbers/bytes.ts";
import { NUMBER_HEADER_BYTES } from "../numbers/number-layout.ts";
import { readNumbers } from "../numbers/numbers.ts";
import { DIRECTORY_ENTRY_BYTES } from "../storage-layout.ts";
import {
  BLOCK_HEADER_BYTES,
  DIRECTORY_ENTRY_WORDS,
  readBlockHeader,
  type BlockHeader,
  isEverywhere,
  readPresence,
} from "./block-layout.ts";

/**
 * Decodes a block. Throws a CodecError for bytes that encodeBlock did not write: cut short, too long, of an unknown version or codec, or
 * contradicting themselves. Damage inside a number cannot be detected.
 */
export function decodeBlock(data: Uint8Array): BlockColumns {
  const header = readBlockHeader(data);
  if (header.bytes !== data.length) throw codecError("the metric block has another size than it says");
  const reader = createByteReader(data);
  const steps = readSteps(reader, header);
  const times = readTimes(reader, header.stepsEnd, header.axisEnd, header.points);
  return { steps, ...times, ...readKeys(reader, header) };
}

/** Reads the steps, up to where the header says. */
function readSteps(reader: ByteReader, { points, stepsEnd }: BlockHeader): Float64Array {
  reader.at = BLOCK_HEADER_BYTES;
  reader.end = stepsEnd;
  const { numbers } = readNumbers(reader, points);
  expectEnd(reader);
  if (numbers.length !== points) throw codecError("the metric block has another number of steps than of points");
  return numbers;
}

/** Reads the times of all points, which fill the bytes `[from, to)`. */
function readTimes(
  reader: ByteReader,
  from: number,
  to: number,
  points: number,
): Pick<BlockColumns, "receivedUs" | "timestampsUs"> {
  reader.at = from;
  reader.end = to;
  const receivedUs = readNumbers(reader, points).numbers;
  if (receivedUs.length !== points) throw codecError("the metric block has another number of times than of points");
  if (reader.end - reader.at === NUMBER_HEADER_BYTES) {
    if (readNumbers(reader, 0).presence !== 0) throw codecError("the metric block has an unknown presence code");
    return { receivedUs, timestampsUs: EMPTY_F64 };
  }
  const client = readSection(reader, points);
  if (client.indexes === null) return { receivedUs, timestampsUs: client.values };
  const timestampsUs = new Float64Array(points).fill(Number.NaN);
  client.indexes.forEach((point, i) => (timestampsUs[point] = client.values[i]!));
  return { receivedUs, timestampsUs };
}

function readKeys(
  reader: ByteReader,
  header: BlockHeader,
): Pick<BlockColumns, "keyIds" | "values" | "offsets" | "pointIndexes"> {
  const { firstKey, width, points, axisEnd } = header;
  const directory = reader.u32.subarray(axisEnd / 4, axisEnd / 4 + DIRECTORY_ENTRY_WORDS * width);
  const keyIds: number[] = [];
  const offsets: number[] = [0];
  const values = new Float64Array(header.values);
  // Allocated at the first key that is not at every point.
  let pointIndexes = EMPTY_U32;
  let at = 0;
  let next = axisEnd + DIRECTORY_ENTRY_BYTES * width;
  for (let slot = 0; slot < width; slot++) {
    const bytes = directory[DIRECTORY_ENTRY_WORDS * slot + 1]!;
    if (bytes === 0) continue;
    if (directory[DIRECTORY_ENTRY_WORDS * slot] !== next || next + bytes > header.bytes)
      throw codecError("the sections of the metric block do not follow one another");
    reader.at = next;
    reader.end = next += bytes;
    const { numbers, presence } = readNumbers(reader, points);
    const count = numbers.length;
    if (at + count > values.length) throw codecError("the metric block has more values than it says");
    copyNumbers(values, at, numbers, 0, count);
    if (isEverywhere(presence, count, points)) fillEverywhere(pointIndexes, at, count);
    else {
      if (pointIndexes.length === 0) {
        pointIndexes = new Uint32Array(header.values);
        for (let from = 0; from < at; from += points) fillEverywhere(pointIndexes, from, points);
      }
      readPresence(reader, presence, points, pointIndexes, at, count);
    }
    expectEnd(reader);
    at += count;
    keyIds.push(firstKey + slot);
    offsets.push(at);
  }
  if (at !== values.length || next !== header.bytes)
    throw codecError("the metric block has fewer values or bytes than it says");
  const dense = at === keyIds.length * points;
  return {
    keyIds: Uint32Array.from(keyIds),
    values,
    offsets: dense ? EMPTY_U32 : Uint32Array.from(offsets),
    pointIndexes: dense ? EMPTY_U32 : pointIndexes,
  };
}

/** Reads one key's values, and the indexes of their points or null if there is a value for each point. */
function readSection(reader: ByteReader, points: number): { values: Float64Array; indexes: Uint32Array | null } {
  const { numbers, presence } = readNumbers(reader, points);
  const count = numbers.length;
  const indexes = isEverywhere(presence, count, points) ? null : new Uint32Array(count);
  if (indexes !== null) readPresence(reader, presence, points, indexes, 0, count);
  expectEnd(reader);
  return { values: numbers, indexes };
}

/** Writes the indexes of all points, for a key that is at each of them, if indexes are kept at all. */
function fillEverywhere(pointIndexes: Uint32Array, at: number, points: number): void {
  if (pointIndexes.length > 0) for (let point = 0; point < points; point++) pointIndexes[at + point] = point;
}

/** The data that the keys of a block share. */
export type BlockAxis = {
  /** The block's bytes up to `stepsEnd`. */
  readonly steps: Uint8Array;
  /** The bytes from `stepsEnd` to `axisEnd`; null if the times are not wanted. */
  readonly times: Uint8Array | null;
};

/** One key's points of a block in the order of arrival. Both times are empty if they are not wanted, the client's also if no point has one. */
type BlockSeries = {
  readonly steps: Float64Array;
  readonly values: Float64Array;
  readonly receivedUs: Float64Array;
  readonly timestampsUs: Float64Array;
};

/** Decodes the points of a key from its section. Shares the section, and the steps and times with other keys of the block. */
export type BlockKeyReader = (section: Uint8Array, memory?: NumberBuffer) => BlockSeries;

/**
 * Decodes the steps and times of a block and returns a reader of its keys. The reader shares the parts, which must then not change, and the memory if
 * it is given. Both throw a CodecError for parts that are not of an encoded block or do not belong together.
 */
export function openBlock({ steps: stepsPart, times: timesPart }: BlockAxis, memory?: NumberBuffer): BlockKeyReader {
  const header = readBlockHeader(stepsPart);
  const { points, stepsEnd } = header;
  if (stepsEnd !== stepsPart.length) throw codecError("a part of the metric block has a wrong size");
  const steps = readSteps(createByteReader(stepsPart, memory), header);
  const { receivedUs, timestampsUs } =
    timesPart === null ? NO_TIMES : readTimes(createByteReader(timesPart, memory), 0, timesPart.length, points);
  return (section, sectionMemory) => {
    if (section.length === 0) return NO_POINTS;
    const { values, indexes } = readSection(createByteReader(section, sectionMemory), points);
    if (indexes === null) return { steps, values, receivedUs, timestampsUs };
    const at = (numbers: Float64Array): Float64Array => (numbers.length === 0 ? numbers : pick(numbers, indexes));
    return { steps: at(steps), values, receivedUs: at(receivedUs), timestampsUs: at(timestampsUs) };
  };
}

const NO_TIMES = { receivedUs: EMPTY_F64, timestampsUs: EMPTY_F64 };
const NO_POINTS: BlockSeries = { steps: EMPTY_F64, values: EMPTY_F64, ...NO_TIMES };
