import { codecError } from "../../bytes.ts";
import { planBits, readBits } from "./bit-codecs.ts";
import { takeBytes, wordsOf, type ByteReader, type ByteWriter } from "./bytes.ts";
import { planDecimals, readDecimals } from "./decimal-codecs.ts";
import { planDictionary, readDictionary } from "./dictionary-codec.ts";
import {
  BITS,
  CONSTANT,
  DECIMAL_DIFFERENCES,
  DECIMAL_OFFSETS,
  DECIMAL_RUNS,
  DICTIONARY,
  NUMBER_HEADER_BYTES,
  RAW,
  SPLIT_BITS,
  writePlan,
  type NumberPlan,
} from "./number-layout.ts";

/**
 * How much work to spend on the numbers: "best" is for those that will not be written again. "fast" leaves doubles of full precision raw, because
 * saving about a seventh of most of them takes longer than everything else.
 */
export type Effort = "fast" | "best";

/** Raw numbers are read without any work, so other ways to write them must take less than this share of their bytes. */
const WORTH_PACKING = 0.95;
/** Packing fewer numbers than this saves a few bytes at most; runs with many keys have many such columns. */
const WORTH_PACKING_FROM = 4;

/** Returns the most bytes that {@link writeNumbers} writes for `count` numbers. */
export function numberBytesMax(count: number): number {
  return NUMBER_HEADER_BYTES + 8 * count;
}

/** Writes the numbers in the smallest form that is worth the time to read it, and returns where they start. */
export function writeNumbers(writer: ByteWriter, numbers: Float64Array, effort: Effort): number {
  const start = writer.at;
  writePlan(writer, planNumbers(numbers, effort), numbers.length);
  return start;
}

function planNumbers(numbers: Float64Array, effort: Effort): NumberPlan {
  const raw = planRaw(numbers);
  if (numbers.length < 2) return raw;
  if (isConstant(numbers)) return planConstant(numbers[0]!);
  if (numbers.length < WORTH_PACKING_FROM) return raw;
  const decimals = planDecimals(numbers);
  const small = decimals !== null && decimals.bytes < raw.bytes / 4;
  const plans = [
    decimals,
    effort === "best" || (!small && haveZerosBelow(numbers)) ? planBits(numbers) : null,
    effort === "best" ? planDictionary(numbers) : null,
  ];
  let best = raw;
  for (const plan of plans) {
    if (plan !== null && plan.bytes < best.bytes && plan.bytes <= WORTH_PACKING * raw.bytes) best = plan;
  }
  return best;
}

function planRaw(numbers: Float64Array): NumberPlan {
  return {
    codec: RAW,
    width: 0,
    parameter: 0,
    bytes: 8 * numbers.length,
    write: (writer) => writer.f64.set(numbers, writer.at / 8),
  };
}

function planConstant(number: number): NumberPlan {
  return {
    codec: CONSTANT,
    width: 0,
    parameter: 0,
    bytes: 8,
    write(writer) {
      writer.f64[writer.at / 8] = number;
    },
  };
}

/** Whether the lowest bits of the first few numbers are zeros, as they are in numbers that were rounded to fewer bits. */
function haveZerosBelow(numbers: Float64Array): boolean {
  const words = wordsOf(numbers);
  let used = 0;
  for (let i = 0; i < words.length && i < 32; i += 2) used |= words[i]!;
  return (used & 0xffff) === 0;
}

/** Whether all numbers have the same bits. */
function isConstant(numbers: Float64Array): boolean {
  const words = wordsOf(numbers);
  const [low, high] = words;
  for (let i = 2; i < words.length; i += 2) if (words[i] !== low || words[i + 1] !== high) return false;
  return true;
}

/** Numbers, and the presence byte that is stored with them. */
export type NumbersWithPresence = { readonly numbers: Float64Array; readonly presence: number };

/**
 * Reads the next numbers, at most `countMax`; raw ones are a view. Throws a CodecError if there are more, a codec is unknown, or too few bytes
 * are left.
 */
export function readNumbers(reader: ByteReader, countMax: number): NumbersWithPresence {
  const header = takeBytes(reader, NUMBER_HEADER_BYTES);
  const presence = reader.u8[header + 3]!;
  const count = reader.u32[header / 4 + 1]!;
  if (count > countMax) throw codecError("a part of the metric block has too many numbers");
  return {
    numbers: readCodec(reader, reader.u8[header]!, count, reader.u8[header + 1]!, reader.u8[header + 2]!),
    presence,
  };
}

function readCodec(reader: ByteReader, codec: number, count: number, width: number, parameter: number): Float64Array {
  switch (codec) {
    case RAW: {
      const at = takeBytes(reader, 8 * count) / 8;
      return reader.f64.subarray(at, at + count);
    }
    case CONSTANT:
      return reader.memory.numbers(count).fill(reader.f64[takeBytes(reader, 8) / 8]!);
    case DECIMAL_OFFSETS:
    case DECIMAL_DIFFERENCES:
    case DECIMAL_RUNS:
      return readDecimals(reader, codec, count, width, parameter);
    case BITS:
    case SPLIT_BITS:
      return readBits(reader, codec, count, width, parameter);
    case DICTIONARY:
      return readDictionary(reader, count, (rest) => readIndexNumbers(rest, count));
    default:
      throw codecError("the metric block has an unknown number codec");
  }
}

/** Reads the indexes into a dictionary. They cannot be a dictionary themselves, so that damaged bytes cannot nest dictionaries. */
function readIndexNumbers(reader: ByteReader, count: number): Float64Array {
  if (reader.u8[reader.at] === DICTIONARY) throw codecError("the metric block has a dictionary inside another");
  return readNumbers(reader, count).numbers;
}
