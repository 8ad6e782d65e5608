import { codecError } from "../../bytes.ts";

/** Allocates memory for decoded numbers. It is not cleared, so its user writes all of it. */
export type NumberBuffer = {
  readonly numbers: (count: number) => Float64Array<ArrayBuffer>;
  readonly words: (count: number) => Int32Array<ArrayBuffer>;
};

/** Memory that is reused. */
export type ScratchBuffer = NumberBuffer & {
  /** Makes all memory available again; arrays that were allocated before must no longer be used. */
  readonly reuse: () => void;
};

/** Allocates new memory each time, so that the arrays may be kept. */
export const freshMemory: NumberBuffer = {
  numbers: (count) => new Float64Array(count),
  words: (count) => new Int32Array(count),
};

const FIRST_BYTES = 128 * 1024;

/** Creates a buffer for numbers that are only needed until the next ones are decoded. It keeps as much memory as was ever needed between two calls of `reuse`. */
export function createScratchBuffer(): ScratchBuffer {
  let buffer = new ArrayBuffer(FIRST_BYTES);
  let used = 0;
  const take = (bytes: number): number => {
    const full = 8 * Math.ceil(bytes / 8);
    // Arrays of the old buffer keep it alive.
    if (used + full > buffer.byteLength) {
      buffer = new ArrayBuffer(Math.max(2 * buffer.byteLength, full));
      used = 0;
    }
    used += full;
    return used - full;
  };
  return {
    numbers(count) {
      const at = take(8 * count);
      return new Float64Array(buffer, at, count);
    },
    words(count) {
      const at = take(4 * count);
      return new Int32Array(buffer, at, count);
    },
    reuse() {
      used = 0;
    },
  };
}

/** A buffer that is filled from its start; `at` is the next free byte, a multiple of 8 between parts. */
export type ByteWriter = {
  readonly u8: Uint8Array<ArrayBuffer>;
  readonly u32: Uint32Array<ArrayBuffer>;
  /** The same words as signed numbers, whose bits can be moved without a conversion. */
  readonly i32: Int32Array<ArrayBuffer>;
  readonly f64: Float64Array<ArrayBuffer>;
  at: number;
};

/** Creates a writer of up to `bytesMax` bytes, all zero. */
export function createByteWriter(bytesMax: number): ByteWriter {
  const buffer = new ArrayBuffer(fullWords(bytesMax));
  return {
    u8: new Uint8Array(buffer),
    u32: new Uint32Array(buffer),
    i32: new Int32Array(buffer),
    f64: new Float64Array(buffer),
    at: 0,
  };
}

/** Rounds up to a multiple of 8. */
export function fullWords(bytes: number): number {
  return 8 * Math.ceil(bytes / 8);
}

/** Bytes that are read in parts, each at a multiple of 8; `at` is where the next one starts, `end` the first byte that must not be read. */
export type ByteReader = {
  readonly u8: Uint8Array;
  readonly u32: Uint32Array;
  /** The same words as signed numbers, whose bits can be moved without a conversion. */
  readonly i32: Int32Array;
  readonly f64: Float64Array;
  at: number;
  end: number;
  /** Allocates the numbers that are read. */
  readonly memory: NumberBuffer;
};

/** Creates a reader of these bytes, or of a copy if they are not aligned. Throws a CodecError unless their number is a multiple of 8. */
export function createByteReader(bytes: Uint8Array, memory = freshMemory): ByteReader {
  if (bytes.length % 8 !== 0) throw codecError("a part of the metric block is cut short");
  const u8 = bytes.byteOffset % 8 === 0 ? bytes : aligned(bytes, memory);
  const { buffer, byteOffset, length } = u8;
  return {
    u8,
    u32: new Uint32Array(buffer, byteOffset, length / 4),
    i32: new Int32Array(buffer, byteOffset, length / 4),
    f64: new Float64Array(buffer, byteOffset, length / 8),
    at: 0,
    end: length,
    memory,
  };
}

function aligned(bytes: Uint8Array, memory: NumberBuffer): Uint8Array {
  const { buffer, byteOffset } = memory.numbers(bytes.length / 8);
  const copy = new Uint8Array(buffer, byteOffset, bytes.length);
  copy.set(bytes);
  return copy;
}

/** Takes the next `bytes` bytes, rounded up to a multiple of 8, and returns where they start. Throws a CodecError if fewer are left. */
export function takeBytes(reader: ByteReader, bytes: number): number {
  const from = reader.at;
  const to = from + 8 * Math.ceil(bytes / 8);
  if (to > reader.end) throw codecError("a part of the metric block is cut short");
  reader.at = to;
  return from;
}

/** Throws a CodecError if any bytes are left. */
export function expectEnd(reader: ByteReader): void {
  if (reader.at !== reader.end) throw codecError("a part of the metric block is too long");
}

/** Returns the bits of the doubles, two words each, the lower one first, as a view. */
export function wordsOf(numbers: Float64Array): Int32Array {
  return new Int32Array(numbers.buffer, numbers.byteOffset, 2 * numbers.length);
}
