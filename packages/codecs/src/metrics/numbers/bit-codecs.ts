import { codecError } from "../../bytes.ts";
import { packBits, packedBytes, unpackBits } from "./bit-pack.ts";
import { fullWords, takeBytes, wordsOf, type ByteReader, type ByteWriter } from "./bytes.ts";
import { BITS, SIGNED, SPLIT_BITS, type NumberPlan } from "./number-layout.ts";

const MAGNITUDE = 0x7fff_ffff;
const TOP = 0x8000_0000 | 0;

/** How the 64 bits of each double, two words of 32 each, are shortened: by the least integer and by the zeros below. */
type Window = {
  readonly leastLow: number;
  readonly leastHigh: number;
  readonly shift: number;
  readonly signed: boolean;
  /** Bits that remain, the sign included. */
  readonly width: number;
};

/** Plans to write the numbers, at least one, by the bits in which they differ. */
export function planBits(numbers: Float64Array): NumberPlan {
  const words = wordsOf(numbers);
  const window = windowOf(words);
  const { width, shift, signed } = window;
  const count = numbers.length;
  const split = width > 32;
  const high = split ? width - 32 : width;
  return {
    codec: split ? SPLIT_BITS : BITS,
    width: high,
    parameter: shift + (signed ? SIGNED : 0),
    bytes: 8 + (split ? fullWords(4 * count) : 0) + packedBytes(count, high),
    write: (writer) => writeBits(writer, words, window),
  };
}

function windowOf(words: Int32Array): Window {
  let usedLow = 0;
  let usedHigh = 0;
  let signsAll = -1;
  for (let i = 0; i < words.length; i += 2) {
    usedLow |= words[i]!;
    usedHigh |= words[i + 1]!;
    signsAll &= words[i + 1]!;
  }
  const signed = (usedHigh & ~signsAll) < 0;
  const mask = signed ? MAGNITUDE : -1;
  const shift = usedLow === 0 ? trailingZeros(usedHigh & mask, 32) : trailingZeros(usedLow, 0);
  // With the highest bit flipped, signed words compare as unsigned ones.
  const [firstLow, firstHigh] = [words[0]! ^ TOP, (words[1]! & mask) ^ TOP];
  let [leastLow, leastHigh, greatestLow, greatestHigh] = [firstLow, firstHigh, firstLow, firstHigh];
  for (let i = 2; i < words.length; i += 2) {
    const low = words[i]! ^ TOP;
    const high = (words[i + 1]! & mask) ^ TOP;
    if (high < leastHigh || (high === leastHigh && low < leastLow)) {
      leastHigh = high;
      leastLow = low;
    } else if (high > greatestHigh || (high === greatestHigh && low > greatestLow)) {
      greatestHigh = high;
      greatestLow = low;
    }
  }
  const low = (greatestLow - leastLow) | 0;
  const high = (greatestHigh - leastHigh - (greatestLow < leastLow ? 1 : 0)) | 0;
  const bits = high === 0 ? 32 - Math.clz32(low) : 64 - Math.clz32(high);
  return {
    leastLow: leastLow ^ TOP,
    leastHigh: leastHigh ^ TOP,
    shift,
    signed,
    width: Math.max(0, bits - shift) + (signed ? 1 : 0),
  };
}

function trailingZeros(word: number, below: number): number {
  return word === 0 ? 0 : below + 31 - Math.clz32(word & -word);
}

function writeBits(writer: ByteWriter, words: Int32Array, window: Window): void {
  const { leastLow, leastHigh, shift, signed, width } = window;
  const count = words.length / 2;
  const at = writer.at / 4;
  writer.i32[at] = leastLow;
  writer.i32[at + 1] = leastHigh;
  const split = width > 32;
  const lows = new Int32Array(count);
  const highs = split ? new Int32Array(count) : lows;
  for (let i = 0; i < count; i++) {
    const word = words[2 * i]!;
    const above = words[2 * i + 1]!;
    let low = (word - leastLow) | 0;
    // The borrow of the lower words' difference, as a full subtractor computes it.
    const borrow = ((~word & leastLow) | (~(word ^ leastLow) & low)) >>> 31;
    let high = ((signed ? above & MAGNITUDE : above) - leastHigh - borrow) | 0;
    if (shift >= 32) {
      low = (high >>> (shift - 32)) | 0;
      high = 0;
    } else if (shift > 0) {
      low = (low >>> shift) | (high << (32 - shift));
      high = (high >>> shift) | 0;
    }
    if (signed) {
      high = (high << 1) | (low >>> 31);
      low = (low << 1) | (above >>> 31);
    }
    if (split) highs[i] = high;
    lows[i] = low;
  }
  if (!split) packBits(writer.i32, at + 2, lows, count, width);
  else {
    writer.i32.set(lows, at + 2);
    packBits(writer.i32, at + 2 + fullWords(4 * count) / 4, highs, count, width - 32);
  }
}

/** Reads `count` numbers of one of the two codecs. Throws a CodecError if they are cut short or contradict themselves. */
export function readBits(
  reader: ByteReader,
  codec: number,
  count: number,
  width: number,
  parameter: number,
): Float64Array {
  const signed = parameter >= SIGNED;
  const shift = signed ? parameter - SIGNED : parameter;
  if (width > 32 || shift > 63 || count === 0) throw codecError("the metric block has impossible bits");
  const split = codec === SPLIT_BITS;
  const at = takeBytes(reader, 8) / 4;
  const leastLow = reader.i32[at]!;
  const leastHigh = reader.i32[at + 1]!;
  const lowsAt = split ? takeBytes(reader, 4 * count) / 4 : 0;
  const packed = unpackBits(reader.i32, takeBytes(reader, packedBytes(count, width)) / 4, count, width, reader.memory);
  const lows = split ? reader.i32.subarray(lowsAt, lowsAt + count) : packed;
  const numbers = reader.memory.numbers(count);
  const words = wordsOf(numbers);
  // Most measured numbers are doubles that use all of their bits, or once were in single precision: loops for these two cases are faster.
  if (split && !signed && shift === 0) {
    for (let i = 0; i < count; i++) {
      const low = lows[i]!;
      const sum = (low + leastLow) | 0;
      words[2 * i] = sum;
      words[2 * i + 1] = (((packed[i]! + leastHigh) | 0) + carryOf(low, leastLow, sum)) | 0;
    }
    return numbers;
  }
  if (!split && !signed && shift > 0 && shift < 32) {
    for (let i = 0; i < count; i++) {
      const bits = packed[i]!;
      const low = bits << shift;
      const sum = (low + leastLow) | 0;
      words[2 * i] = sum;
      words[2 * i + 1] = ((((bits >>> (32 - shift)) + leastHigh) | 0) + carryOf(low, leastLow, sum)) | 0;
    }
    return numbers;
  }
  for (let i = 0; i < count; i++) {
    let low = lows[i]!;
    let high = split ? packed[i]! : 0;
    let sign = 0;
    if (signed) {
      sign = low << 31;
      low = (low >>> 1) | (high << 31);
      high = (high >>> 1) | 0;
    }
    if (shift >= 32) {
      high = low << (shift - 32);
      low = 0;
    } else if (shift > 0) {
      high = (high << shift) | (low >>> (32 - shift));
      low <<= shift;
    }
    const sum = (low + leastLow) | 0;
    words[2 * i] = sum;
    words[2 * i + 1] = (((high + leastHigh) | 0) + carryOf(low, leastLow, sum)) | sign;
  }
  return numbers;
}

/** Returns the carry of the sum of two words, as a full adder computes it. */
function carryOf(a: number, b: number, sum: number): number {
  return ((a & b) | ((a | b) & ~sum)) >>> 31;
}
