import { codecError } from "./codec-error.ts";

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
