/** The one error of the codecs, recognized by its `name`: bytes do not have the promised form. Its text does not contain user data. */
export type CodecError = Error & { readonly name: "CodecError" };

/** Makes a {@link CodecError}. */
export function codecError(text: string, cause?: unknown): CodecError {
  const error = cause === undefined ? new Error(text) : new Error(text, { cause });
  return Object.assign(error, { name: "CodecError" as const });
}

/** Recognizes a {@link CodecError} by its name, which also works across copies of this package. */
export function isCodecError(error: unknown): error is CodecError {
  return typeof error === "object" && error !== null && "name" in error && error.name === "CodecError";
}

/** Reads what a `ByteWriter` wrote. Each read throws a CodecError where the bytes end, or where a number is not a safe integer. */
export type ByteReader = {
  byte(): number;
  unsigned(): number;
  signed(): number;
  number(): number;
  double(): number;
  uint32(): number;
  /** The next `length` bytes, as a view. */
  raw(length: number): Uint8Array;
  /** Bytes behind their number, as a view. */
  bytes(): Uint8Array;
  text(): string;
  /** How many bytes are left. */
  left(): number;
};

const LOW_BITS = 0x80;
/** The value of the lowest bit of the eighth byte, the last that a safe integer has. */
const SCALE_MAX = 2 ** 49;

/** Creates a reader of the bytes from `from` on. */
export function createByteReader(source: Uint8Array, from = 0): ByteReader {
  const buffer = Buffer.from(source.buffer, source.byteOffset, source.byteLength);
  let at = from;
  const take = (count: number): number => {
    if (count > buffer.length - at) throw cutShort();
    at += count;
    return at - count;
  };
  const unsigned = (): number => {
    let byte = buffer[at++];
    if (byte === undefined) throw cutShort();
    if (byte < LOW_BITS) return byte;
    let value = byte & 0x7f;
    for (let scale = LOW_BITS; scale <= SCALE_MAX; scale *= LOW_BITS) {
      byte = buffer[at++];
      if (byte === undefined) throw cutShort();
      value += (byte & 0x7f) * scale;
      if (byte < LOW_BITS && value <= Number.MAX_SAFE_INTEGER) return value;
    }
    throw codecError("a number is too large");
  };
  const signed = (): number => {
    const value = unsigned();
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
  };
  const double = (): number => buffer.readDoubleLE(take(8));
  const raw = (length: number): Buffer => {
    const start = take(length);
    return buffer.subarray(start, start + length);
  };
  return {
    byte: () => buffer[take(1)]!,
    unsigned,
    signed,
    number() {
      const value = unsigned();
      if (value === 1) return double();
      return value % 4 === 0 ? value / 4 : -(value + 2) / 4;
    },
    double,
    uint32: () => buffer.readUInt32BE(take(4)),
    raw,
    bytes: () => raw(unsigned()),
    text: () => raw(unsigned()).toString("utf8"),
    left: () => buffer.length - at,
  };
}

function cutShort(): Error {
  return codecError("the bytes are cut short");
}

/** Writes numbers and texts in few bytes, into a buffer that grows. */
export type ByteWriter = {
  /** One byte. */
  byte(value: number): void;
  /** A whole number from 0 to 2^53 - 1, seven bits a byte, the low ones first (LEB128). */
  unsigned(value: number): void;
  /** A whole number whose double is within ±(2^53 - 1); small ones of either sign are short. */
  signed(value: number): void;
  /** Any double. Whole numbers are short, others take nine bytes. */
  number(value: number): void;
  /** Eight bytes of a double, the lowest first. */
  double(value: number): void;
  /** 32 bits, the highest first. */
  uint32(value: number): void;
  /** Bytes as they are. */
  raw(bytes: Uint8Array): void;
  /** The number of bytes, then the bytes. */
  bytes(bytes: Uint8Array): void;
  /** A text in UTF-8 as `bytes` writes it. */
  text(text: string): void;
  /** Returns what was written, as a view. */
  done(): Uint8Array;
  /** Returns how many bytes were written. A getter would make each call of the writer slower. */
  size(): number;
};

const INT32_SAFE = 0x4000_0000;
const NUMBER_BYTES_MAX = 9;
/** Whole numbers within this bound are written as integers; their double, and a bit more, is below 2^53. */
export const WHOLE_MAX = 2 ** 51;

/** Creates a writer. */
export function createByteWriter(capacity = 1024): ByteWriter {
  let buffer = Buffer.allocUnsafe(Math.max(capacity, 16));
  let at = 0;
  const reserve = (added: number): void => {
    if (at + added <= buffer.length) return;
    const larger = Buffer.allocUnsafe(Math.max(2 * buffer.length, at + added));
    buffer.copy(larger, 0, 0, at);
    buffer = larger;
  };
  const unsigned = (value: number): void => {
    reserve(NUMBER_BYTES_MAX);
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
  const signed = (value: number): void => unsigned(value < 0 ? -2 * value - 1 : 2 * value);
  const raw = (bytes: Uint8Array): void => {
    reserve(bytes.length);
    buffer.set(bytes, at);
    at += bytes.length;
  };
  const double = (value: number): void => {
    reserve(8);
    at = buffer.writeDoubleLE(value, at);
  };
  return {
    byte(value) {
      reserve(1);
      buffer[at++] = value;
    },
    unsigned,
    signed,
    number(value) {
      // The lowest bit distinguishes the two forms. -0 is written as 0.
      if (Number.isInteger(value) && Math.abs(value) < WHOLE_MAX) {
        unsigned(value < 0 ? -4 * value - 2 : 4 * value);
        return;
      }
      unsigned(1);
      double(value);
    },
    double,
    uint32(value) {
      reserve(4);
      at = buffer.writeUInt32BE(value, at);
    },
    raw,
    bytes(bytes) {
      unsigned(bytes.length);
      raw(bytes);
    },
    text(text) {
      const length = Buffer.byteLength(text);
      unsigned(length);
      reserve(length);
      at += buffer.write(text, at);
    },
    done: () => buffer.subarray(0, at),
    size: () => at,
  };
}
