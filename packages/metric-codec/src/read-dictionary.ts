import { takeBytes } from "./byte-reader.ts";
import type { ByteReader } from "./byte-reader.ts";
import { codecError } from "./codec-error.ts";

/**
 * Reads `count` numbers; `readIndexNumbers` reads the numbers that follow the dictionary. Throws a CodecError when they are cut short or a place is
 * outside the dictionary.
 */
export function readDictionary(
  reader: ByteReader,
  count: number,
  readIndexNumbers: (reader: ByteReader) => Float64Array,
): Float64Array {
  const size = reader.u32[takeBytes(reader, 8) / 4]!;
  const from = takeBytes(reader, 8 * size) / 8;
  const distinct = reader.f64.subarray(from, from + size);
  const places = readIndexNumbers(reader);
  if (places.length !== count) throw codecError("a dictionary of the metric block has a wrong number of places");
  const numbers = reader.memory.numbers(count);
  for (let i = 0; i < count; i++) {
    const number = distinct[places[i]!];
    if (number === undefined) throw codecError("a number of the metric block is not in its dictionary");
    numbers[i] = number;
  }
  return numbers;
}
