import { codecError } from "../../bytes.ts";
import { bitWidth, packBits, packedBytes, unpackBits } from "./bit-pack.ts";
import { takeBytes, type ByteReader, type ByteWriter } from "./bytes.ts";
import { decimalsOf, powerOfTen } from "./decimals.ts";
import {
  DECIMAL_DIFFERENCES,
  DECIMAL_DIGITS_MAX,
  DECIMAL_OFFSETS,
  DECIMAL_RUNS,
  type NumberPlan,
} from "./number-layout.ts";

/** Properties of the integers: their range, the range of the differences between neighbors, and the runs of equal differences. */
type Shape = {
  least: number;
  greatest: number;
  leastDifference: number;
  greatestDifference: number;
  runs: number;
  longestRun: number;
};

/** Plans the smallest way to write the numbers as decimals. Returns null if they are not decimals or are too far apart. */
export function planDecimals(numbers: Float64Array): NumberPlan | null {
  const decimals = decimalsOf(numbers);
  if (decimals === null) return null;
  const { integers, digits } = decimals;
  const shape = shapeOf(integers);
  const count = integers.length;
  const offsetWidth = bitWidth(shape.greatest - shape.least);
  const differenceWidth = bitWidth(shape.greatestDifference - shape.leastDifference);
  const lengthWidth = bitWidth(shape.longestRun - 1);
  const plans: NumberPlan[] = [
    {
      codec: DECIMAL_OFFSETS,
      width: offsetWidth,
      parameter: digits,
      bytes: 8 + packedBytes(count, offsetWidth),
      write: (writer) => writeOffsets(writer, integers, shape.least, offsetWidth),
    },
    {
      codec: DECIMAL_DIFFERENCES,
      width: differenceWidth,
      parameter: digits,
      bytes: 16 + packedBytes(count - 1, differenceWidth),
      write: (writer) => writeDifferences(writer, integers, shape.leastDifference, differenceWidth),
    },
    {
      codec: DECIMAL_RUNS,
      width: differenceWidth,
      parameter: digits,
      bytes: 24 + packedBytes(shape.runs, differenceWidth) + packedBytes(shape.runs, lengthWidth),
      write: (writer) => writeRuns(writer, integers, shape, differenceWidth, lengthWidth),
    },
  ];
  let best: NumberPlan | null = null;
  for (const plan of plans) if (plan.width <= 32 && (best === null || plan.bytes < best.bytes)) best = plan;
  return best;
}

function shapeOf(integers: Float64Array): Shape {
  let previous = integers[0]!;
  let difference = integers.length > 1 ? integers[1]! - previous : 0;
  const shape: Shape = {
    least: previous,
    greatest: previous,
    leastDifference: difference,
    greatestDifference: difference,
    runs: integers.length > 1 ? 1 : 0,
    longestRun: 1,
  };
  let run = 0;
  for (let i = 1; i < integers.length; i++) {
    const integer = integers[i]!;
    if (integer < shape.least) shape.least = integer;
    else if (integer > shape.greatest) shape.greatest = integer;
    const next = integer - previous;
    previous = integer;
    if (next === difference) {
      run += 1;
      continue;
    }
    if (run > shape.longestRun) shape.longestRun = run;
    run = 1;
    shape.runs += 1;
    difference = next;
    if (next < shape.leastDifference) shape.leastDifference = next;
    else if (next > shape.greatestDifference) shape.greatestDifference = next;
  }
  if (run > shape.longestRun) shape.longestRun = run;
  return shape;
}

function writeOffsets(writer: ByteWriter, integers: Float64Array, least: number, width: number): void {
  writer.f64[writer.at / 8] = least;
  const offsets = new Int32Array(integers.length);
  for (let i = 0; i < offsets.length; i++) offsets[i] = integers[i]! - least;
  packBits(writer.i32, writer.at / 4 + 2, offsets, offsets.length, width);
}

function writeDifferences(writer: ByteWriter, integers: Float64Array, least: number, width: number): void {
  writer.f64.set([integers[0]!, least], writer.at / 8);
  const distances = new Int32Array(integers.length - 1);
  for (let i = 0; i < distances.length; i++) distances[i] = integers[i + 1]! - integers[i]! - least;
  packBits(writer.i32, writer.at / 4 + 4, distances, distances.length, width);
}

function writeRuns(
  writer: ByteWriter,
  integers: Float64Array,
  { leastDifference, runs }: Shape,
  width: number,
  lengthWidth: number,
): void {
  writer.f64.set([integers[0]!, leastDifference], writer.at / 8);
  writer.u32.set([runs, lengthWidth], writer.at / 4 + 4);
  const distances = new Int32Array(runs);
  const lengths = new Int32Array(runs);
  let run = -1;
  let difference = Number.NaN;
  for (let i = 1; i < integers.length; i++) {
    const next = integers[i]! - integers[i - 1]!;
    if (next === difference) {
      lengths[run]! += 1;
      continue;
    }
    difference = next;
    run += 1;
    distances[run] = next - leastDifference;
  }
  const at = writer.at + 24;
  packBits(writer.i32, at / 4, distances, runs, width);
  packBits(writer.i32, (at + packedBytes(runs, width)) / 4, lengths, runs, lengthWidth);
}

/** Reads `count` decimals of one of the three codecs. Throws a CodecError if they are cut short or contradict themselves. */
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
  // Equal distances, as steps often have. They are exact integers, so their multiples are exact too.
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
