import { bitWidth, packBits, packedBytes, unpackBits } from "../numbers/bit-pack.ts";
import { takeBytes, type ByteReader, type ByteWriter } from "../numbers/bytes.ts";
import { codecError } from "../../bytes.ts";

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
