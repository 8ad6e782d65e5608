import { packedBytes, unpackBits } from "./bit-pack.ts";
import { takeBytes } from "./byte-reader.ts";
import type { ByteReader } from "./byte-reader.ts";
import { codecError } from "./codec-error.ts";
import { powerOfTen } from "./decimals.ts";
import { DECIMAL_DIFFERENCES, DECIMAL_DIGITS_MAX, DECIMAL_OFFSETS } from "./number-layout.ts";

/** Reads `count` decimals of one of the three codecs. Throws a CodecError when they are cut short or contradict themselves. */
export function readDecimals(
  reader: ByteReader,
  codec: number,
  count: number,
  width: number,
  digits: number,
): Float64Array {
  if (width > 32 || digits > DECIMAL_DIGITS_MAX || count === 0)
    throw codecError("the metric block has impossible decimals");
  const numbers =
    codec === DECIMAL_OFFSETS
      ? readOffsets(reader, count, width)
      : codec === DECIMAL_DIFFERENCES
        ? readDifferences(reader, count, width)
        : readRuns(reader, count, width);
  if (digits === 0) return numbers;
  const power = powerOfTen(digits);
  for (let i = 0; i < count; i++) numbers[i] = numbers[i]! / power;
  return numbers;
}

function readOffsets(reader: ByteReader, count: number, width: number): Float64Array {
  const at = takeBytes(reader, 8 + packedBytes(count, width));
  const least = reader.f64[at / 8]!;
  const offsets = unpackBits(reader.i32, at / 4 + 2, count, width, reader.memory);
  const integers = reader.memory.numbers(count);
  for (let i = 0; i < count; i++) integers[i] = least + (offsets[i]! >>> 0);
  return integers;
}

function readDifferences(reader: ByteReader, count: number, width: number): Float64Array {
  const at = takeBytes(reader, 16 + packedBytes(count - 1, width));
  let integer = reader.f64[at / 8]!;
  const least = reader.f64[at / 8 + 1]!;
  const integers = reader.memory.numbers(count);
  // Steps at equal distances, which are exact integers, so that multiples of the distance are, too.
  if (width === 0) {
    for (let i = 0; i < count; i++) integers[i] = integer + i * least;
    return integers;
  }
  const distances = unpackBits(reader.i32, at / 4 + 4, count - 1, width, reader.memory);
  integers[0] = integer;
  for (let i = 1; i < count; i++) integers[i] = integer += least + (distances[i - 1]! >>> 0);
  return integers;
}

function readRuns(reader: ByteReader, count: number, width: number): Float64Array {
  const at = takeBytes(reader, 24);
  let integer = reader.f64[at / 8]!;
  const least = reader.f64[at / 8 + 1]!;
  const runs = reader.u32[at / 4 + 4]!;
  const lengthWidth = reader.u32[at / 4 + 5]!;
  if (runs >= count + 1 || lengthWidth > 32) throw codecError("the metric block has impossible runs");
  const distances = unpackBits(reader.i32, takeBytes(reader, packedBytes(runs, width)) / 4, runs, width, reader.memory);
  const lengths = unpackBits(
    reader.i32,
    takeBytes(reader, packedBytes(runs, lengthWidth)) / 4,
    runs,
    lengthWidth,
    reader.memory,
  );
  const integers = reader.memory.numbers(count);
  integers[0] = integer;
  let next = 1;
  for (let run = 0; run < runs; run++) {
    const difference = least + (distances[run]! >>> 0);
    const end = next + (lengths[run]! >>> 0) + 1;
    if (end > count) throw codecError("the runs of the metric block are too long");
    for (; next < end; next++) integers[next] = integer += difference;
  }
  if (next !== count) throw codecError("the runs of the metric block are too short");
  return integers;
}
