import { packedBytes, unpackBits } from "./bit-pack.ts";
import { takeBytes } from "./byte-reader.ts";
import type { ByteReader } from "./byte-reader.ts";
import { codecError } from "./codec-error.ts";
import { SIGNED, SPLIT_BITS } from "./number-layout.ts";
import { wordsOf } from "./words.ts";

/** Reads `count` numbers of one of the two codecs. Throws a CodecError when they are cut short or contradict themselves. */
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
  // Most measured numbers are doubles that use all of their bits, or once were in single precision: these two are quicker by themselves.
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

/** The carry of the sum of two words, as a full adder gives it. */
function carryOf(a: number, b: number, sum: number): number {
  return ((a & b) | ((a | b) & ~sum)) >>> 31;
}
