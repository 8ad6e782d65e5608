import { bitWidth, packBits, packedBytes, unpackBits } from "../numbers/bit-pack.ts";
import { takeBytes, type ByteReader, type ByteWriter } from "../numbers/bytes.ts";
import { codecError } from "../codec-error.ts";

const EVERYWHERE = 0;

/** The most bytes that {@link writePresence} takes for the points of so many values. */
export function presenceBytesMax(count: number): number {
  return 8 + packedBytes(count, 32);
}

/**
 * Writes which points the numbers belong to that start at byte `numbersAt`: their ascending indexes, at least one, or null when they are one
 * per point.
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

/** Whether a presence byte says that there is a number for each point; throws a CodecError when so many numbers cannot be that. */
export function isEverywhere(presence: number, count: number, points: number): boolean {
  if (presence !== EVERYWHERE) return false;
  if (count !== points) throw codecError("a part of the metric block has a wrong number of values");
  return true;
}

/**
 * Reads the indexes of the points that `count` numbers belong to, which are not everywhere: strictly ascending below `points`, into `target`
 * from `at` on. Throws a CodecError when that cannot be.
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
  // Sums beyond `points` end the reading before they leave the range of exact numbers.
  for (let i = 1; i < count && index < points; i++) {
    index += distances === null ? smallest : smallest + (distances[i - 1]! >>> 0);
    target[at + i] = index;
  }
  if (index >= points || smallest === 0) throw codecError("a point index of the metric block is out of range");
}
