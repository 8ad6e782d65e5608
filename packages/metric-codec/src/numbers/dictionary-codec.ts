import { codecError } from "../codec-error.ts";
import { takeBytes, wordsOf, type ByteReader } from "./bytes.ts";
import { planDecimals } from "./decimal-codecs.ts";
import { DICTIONARY, NUMBER_HEADER_BYTES, writePlan, type NumberPlan } from "./number-layout.ts";

/** The distinct numbers in the order in which they come up, as words, and the place of each number among them. */
type Dictionary = { readonly words: Int32Array; readonly places: Float64Array };

/**
 * Each distinct number once, and for each number its place among them; null when more than a quarter of them are distinct. For shares such as
 * k/937, and for what stays as it is for a while.
 */
export function planDictionary(numbers: Float64Array): NumberPlan | null {
  const dictionary = dictionaryOf(numbers);
  if (dictionary === null) return null;
  const { words, places } = dictionary;
  const plan = planDecimals(places);
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
      writePlan(writer, plan, places.length);
      writer.at = start;
    },
  };
}

function dictionaryOf(numbers: Float64Array): Dictionary | null {
  const most = numbers.length >> 2;
  const words = wordsOf(numbers);
  // Open addressing; a slot holds a place and one, 0 is free.
  const slotBits = 34 - Math.clz32(most);
  const slots = new Int32Array(1 << slotBits);
  const distinct = new Int32Array(2 * most);
  const places = new Float64Array(numbers.length);
  let count = 0;
  for (let i = 0; i < places.length; i++) {
    const low = words[2 * i]!;
    const high = words[2 * i + 1]!;
    // Multiplicative hashing (Knuth, "Sorting and Searching", 6.4): the highest bits depend on all bits.
    let slot = Math.imul(Math.imul(low, 0x85eb_ca6b) ^ high, 0x9e37_79b1) >>> (32 - slotBits);
    let place = slots[slot]! - 1;
    while (place >= 0 && (distinct[2 * place] !== low || distinct[2 * place + 1] !== high)) {
      slot = (slot + 1) & (slots.length - 1);
      place = slots[slot]! - 1;
    }
    if (place < 0) {
      if (count === most) return null;
      place = count;
      count += 1;
      slots[slot] = count;
      distinct[2 * place] = low;
      distinct[2 * place + 1] = high;
    }
    places[i] = place;
  }
  return { words: distinct.subarray(0, 2 * count), places };
}

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
