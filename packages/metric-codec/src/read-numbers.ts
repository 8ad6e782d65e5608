import { takeBytes } from "./byte-reader.ts";
import type { ByteReader } from "./byte-reader.ts";
import { codecError } from "./codec-error.ts";
import { readBits } from "./read-bits.ts";
import { readDecimals } from "./read-decimals.ts";
import { readDictionary } from "./read-dictionary.ts";
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
} from "./number-layout.ts";

/** Numbers with the presence byte that was left beside them. */
export type NumbersWithPresence = { readonly numbers: Float64Array; readonly presence: number };

/**
 * Reads the next numbers, at most `countMax`; raw ones are a view. Throws a CodecError when there are more, a codec is unknown, or what is
 * left of the bytes is too short.
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

/** The places in a dictionary; those have none of their own, so that damaged bytes cannot nest them. */
function readIndexNumbers(reader: ByteReader, count: number): Float64Array {
  if (reader.u8[reader.at] === DICTIONARY) throw codecError("the metric block has a dictionary inside another");
  return readNumbers(reader, count).numbers;
}
