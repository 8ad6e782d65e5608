import { codecError } from "./codec-error.ts";

/** Writes whole numbers in few bytes: seven bits per byte, the low ones first, the top bit set on all bytes but the last (LEB128). */
export type VarintWriter = {
  /** A whole number from 0 to 2^53 - 1. */
  unsigned(value: number): void;
  /** A whole number whose double is within ±(2^53 - 1). Small numbers of either sign are short. */
  signed(value: number): void;
  /** Writes bytes unchanged. */
  bytes(bytes: Uint8Array): void;
  /** Returns what was written, as a view. */
  done(): Uint8Array;
};

const BYTES_PER_NUMBER_MAX = 8;
/** The value of the lowest bit of the eighth byte. */
const SCALE_MAX = 2 ** 49;
const LOW_BITS = 0x80;
const INT32_SAFE = 0x4000_0000;

/** Creates a writer whose buffer starts with `bytes` bytes and grows as needed. */
export function createVarintWriter(bytes: number): VarintWriter {
  let buffer = new Uint8Array(Math.max(bytes, 16));
  let at = 0;
  const reserve = (added: number): void => {
    if (at + added <= buffer.length) return;
    const larger = new Uint8Array(Math.max(2 * buffer.length, at + added));
    larger.set(buffer);
    buffer = larger;
  };
  const unsigned = (value: number): void => {
    reserve(BYTES_PER_NUMBER_MAX);
    let rest = value;
    // Bit operations only work on 32 bits.
    while (rest >= INT32_SAFE) {
      buffer[at++] = (rest % LOW_BITS) | LOW_BITS;
      rest = Math.floor(rest / LOW_BITS);
    }
    while (rest >= LOW_BITS) {
      buffer[at++] = (rest & 0x7f) | LOW_BITS;
      rest >>>= 7;
    }
    buffer[at++] = rest;
  };
  return {
    unsigned,
    signed: (value) => unsigned(value < 0 ? -2 * value - 1 : 2 * value),
    bytes(source) {
      reserve(source.length);
      buffer.set(source, at);
      at += source.length;
    },
    done: () => buffer.subarray(0, at),
  };
}

/** Reads what a {@link VarintWriter} wrote. Every read throws a LogCodecError if the bytes end or the number is not a safe integer. */
export type VarintReader = {
  unsigned(): number;
  signed(): number;
  /** Returns the next `length` bytes, as a view. */
  bytes(length: number): Uint8Array;
  /** Returns how many bytes are left. */
  left(): number;
};

/** Creates a reader of `buffer` from byte `from` on. */
export function createVarintReader(buffer: Uint8Array, from = 0): VarintReader {
  let at = from;
  const unsigned = (): number => {
    let byte = buffer[at++];
    if (byte === undefined) throw codecError("the log block is cut short");
    if (byte < LOW_BITS) return byte;
    let value = byte & 0x7f;
    for (let scale = LOW_BITS; scale <= SCALE_MAX; scale *= LOW_BITS) {
      byte = buffer[at++];
      if (byte === undefined) throw codecError("the log block is cut short");
      value += (byte & 0x7f) * scale;
      if (byte < LOW_BITS && value <= Number.MAX_SAFE_INTEGER) return value;
    }
    throw codecError("a number of the log block is too large");
  };
  return {
    unsigned,
    signed() {
      const value = unsigned();
      return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
    },
    bytes(length) {
      if (length > buffer.length - at) throw codecError("the log block is cut short");
      at += length;
      return buffer.subarray(at - length, at);
    },
    left: () => buffer.length - at,
  };
}
