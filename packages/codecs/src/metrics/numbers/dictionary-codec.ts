import { codecError } from "../../bytes.ts";
import { takeBytes, wordsOf, type ByteReader } from "./bytes.ts";
import { planDecimals } from "./decimal-codecs.ts";
import { DICTIONARY, NUMBER_HEADER_BYTES, writePlan, type NumberPlan } from "./number-layout.ts";

/** The distinct numbers in the order of their first occurrence, as words, and the index of each number among them. */
type Dictionary = { readonly words: Int32Array; readonly indexes: Float64Array };

/**
 * Plans to write each distinct number once, and the index of each number among these. Returns null if more than a quarter of the numbers are
 * distinct. For fractions such as k/937, and for numbers that stay the same for a while.
 */
export function planDictionary(numbers: Float64Array): NumberPlan | null {
  const dictionary = dictionaryOf(numbers);
  if (dictionary === null) return null;
  const { words, indexes } = dictionary;
  const plan = planDecimals(indexes);
  if (plan === null) return null;
  return {
    codec: DICTIONARY,
    width: 0,
    parameter: 0,
    bytes: 8 + 4 * words.length + NUMBER_HEADER_BYTES + plan.bytes,
    write(writer) {
      const start = writer.at;
      writer.u32[start / 4] = words.length / 2;
      writer.i32.set(words, start / 4 + 2);
      writer.at = start + 8 + 4 * words.length;
      writePlan(writer, plan, indexes.length);
      writer.at = start;
    },
  };
}

function dictionaryOf(numbers: Float64Array): Dictionary | null {
  const most = numbers.length >> 2;
  const words = wordsOf(numbers);
  // Open addressing; a slot holds an index plus one, and 0 is free.
  const slotBits = 34 - Math.clz32(most);
  const slots = new Int32Array(1 << slotBits);
  const distinct = new Int32Array(2 * most);
  const indexes = new Float64Array(numbers.length);
  let count = 0;
  for (let i = 0; i < indexes.length; i++) {
    const low = words[2 * i]!;
    const high = words[2 * i + 1]!;
    // Multiplicative hashing (Knuth, "Sorting and Searching", 6.4): the highest bits depend on all bits.
    let slot = Math.imul(Math.imul(low, 0x85eb_ca6b) ^ high, 0x9e37_79b1) >>> (32 - slotBits);
    let index = slots[slot]! - 1;
    while (index >= 0 && (distinct[2 * index] !== low || distinct[2 * index + 1] !== high)) {
      slot = (slot + 1) & (slots.length - 1);
      index = slots[slot]! - 1;
    }
    if (index < 0) {
      if (count === most) return null;
      index = count;
      count += 1;
      slots[slot] = count;
      distinct[2 * index] = low;
      distinct[2 * index + 1] = high;
    }
    indexes[i] = index;
  }
  return { words: distinct.subarray(0, 2 * count), indexes };
}

/**
 * Reads `count` numbers; `readIndexNumbers` reads the numbers that follow the dictionary. Throws a CodecError if they are cut short or an index is
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
  const indexes = readIndexNumbers(reader);
  if (indexes.length !== count) throw codecError("a dictionary of the metric block has a wrong number of indexes");
  const numbers = reader.memory.numbers(count);
  for (let i = 0; i < count; i++) {
    const number = distinct[indexes[i]!];
    if (number === undefined) throw codecError("a number of the metric block is not in its dictionary");
    numbers[i] = number;
  }
  return numbers;
}
