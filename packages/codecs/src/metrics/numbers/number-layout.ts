import type { ByteWriter } from "./bytes.ts";

/*
 * Numbers as the parts of a metric block hold them: doubles that are restored bit for bit, written in the way that takes the fewest bytes.
 *
 *   at  size              what
 *    0  u8                codec
 *    1  u8                width: bits of a packed number
 *    2  u8                parameter of the codec
 *    3  u8                presence, which belongs to the section of a block: blocks/block-layout.ts
 *    4  u32               count
 *    8                    what the codec writes, each of its parts filled up to a multiple of 8 bytes
 *
 * Codecs. "bits" are numbers of `width` bits one after another, the first in the lowest bits of the first u32.
 *
 *    0 raw                f64 each
 *    1 constant           f64: all numbers
 *
 *   Decimals: integers over 10^parameter, divided when read, which returns the double nearest to the decimal, as parsing it does.
 *   (After Afroozeh, Kuffo and Boncz, "ALP: Adaptive Lossless floating-Point Compression", 2023, without its exceptions.)
 *    2 offsets            f64 least integer; bits: distance of each integer from it
 *    3 differences        f64 first integer; f64 least difference between neighbors; bits: distance of each difference from it
 *    4 runs               f64 first integer; f64 least difference; u32 runs; u32 width of a length;
 *                           bits: for each run of equal differences their distance from the least; bits of that width: its length less one
 *
 *   Bits: the 64 bits of each double as an integer less the least of them, without the lowest bits that are 0 in all. The parameter is
 *   the number of these; if signs differ, 128 is added, the integers are those of the magnitudes, and each has its sign below it.
 *    5 bits               u64 least integer; bits: up to 32 each
 *    6 split bits         u64 least integer; u32 each: the lower 32 bits; bits: what is above them
 *
 *    7 dictionary         u32 distinct numbers; u32 0; f64: each of them; numbers: the index of each number among them
 */

/** Bytes before what the codec writes. */
export const NUMBER_HEADER_BYTES = 8;

export const RAW = 0;
export const CONSTANT = 1;
export const DECIMAL_OFFSETS = 2;
export const DECIMAL_DIFFERENCES = 3;
export const DECIMAL_RUNS = 4;
export const BITS = 5;
export const SPLIT_BITS = 6;
export const DICTIONARY = 7;

/** The most digits behind the decimal point; powers of 10 up to this one are exact doubles. */
export const DECIMAL_DIGITS_MAX = 15;
/** Added to the parameter of bit codecs if signs differ. */
export const SIGNED = 0x80;

/** A way to write numbers: the fields of the header, the bytes that follow it (a multiple of 8), and how to write them at `writer.at`. */
export type NumberPlan = {
  readonly codec: number;
  readonly width: number;
  readonly parameter: number;
  readonly bytes: number;
  /** Writes exactly `bytes` bytes from `writer.at` on, and leaves `writer.at` unchanged. */
  readonly write: (writer: ByteWriter) => void;
};

/** Writes the header and the numbers as planned, and moves `writer.at` behind them. */
export function writePlan(writer: ByteWriter, plan: NumberPlan, count: number): void {
  const start = writer.at;
  writer.u8[start] = plan.codec;
  writer.u8[start + 1] = plan.width;
  writer.u8[start + 2] = plan.parameter;
  writer.u32[start / 4 + 1] = count;
  writer.at = start + NUMBER_HEADER_BYTES;
  plan.write(writer);
  writer.at += plan.bytes;
}
