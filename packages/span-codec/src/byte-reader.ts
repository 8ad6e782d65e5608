import { codecError } from "./codec-error.ts";

/** Reads what a `ByteWriter` wrote. Each read throws a SpanCodecError where the bytes end. */
export type ByteReader = {
  byte(): number;
  unsigned(): number;
  signed(): number;
  number(): number;
  double(): number;
  uint32(): number;
  /** The next bytes, as a view. */
  bytes(): Uint8Array;
  text(): string;
  /** How many bytes are left. */
  left(): number;
};

const LOW_BITS = 0x80;
const SCALE_MAX = 2 ** 56;

/** Creates a reader of the bytes from `from` on. */
export function createByteReader(source: Uint8Array, from = 0): ByteReader {
  const buffer = Buffer.from(source.buffer, source.byteOffset, source.byteLength);
  let at = from;
  const take = (count: number): number => {
    if (count > buffer.length - at) throw codecError("the bytes of a segment are cut short");
    at += count;
    return at - count;
  };
  const unsigned = (): number => {
    let byte = buffer[take(1)]!;
    if (byte < LOW_BITS) return byte;
    let value = byte & 0x7f;
    for (let scale = LOW_BITS; scale <= SCALE_MAX; scale *= LOW_BITS) {
      byte = buffer[take(1)]!;
      value += (byte & 0x7f) * scale;
      if (byte < LOW_BITS) return value;
    }
    throw codecError("a number of a segment is too large");
  };
  const signed = (): number => {
    const value = unsigned();
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
  };
  const double = (): number => buffer.readDoubleLE(take(8));
  const view = (): Buffer => {
    const length = unsigned();
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
    bytes: view,
    text: () => view().toString("utf8"),
    left: () => buffer.length - at,
  };
}
