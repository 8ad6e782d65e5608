const FLOAT8 = 701;
const TEXT = 25;
const BYTEA = 17;
const HEADER_BYTES = 20;
const NULL_LENGTH = -1;

/**
 * Numbers as a float8[] parameter in PostgreSQL's binary form (array_send): exact, and without the
 * conversions to decimal text and back that the text form costs on both sides.
 */
export function float8Array(numbers: ArrayLike<number>): Buffer {
  const bytes = Buffer.allocUnsafe(HEADER_BYTES + 12 * numbers.length);
  let at = writeHeader(bytes, FLOAT8, numbers.length);
  for (let i = 0; i < numbers.length; i++) {
    at = bytes.writeInt32BE(8, at);
    at = bytes.writeDoubleBE(numbers[i]!, at);
  }
  return bytes;
}

/** Well-formed texts without NUL as a text[] parameter in the same form; null stands for itself. */
export function textArray(texts: readonly (string | null)[]): Buffer {
  let size = HEADER_BYTES;
  for (const text of texts) size += 4 + (text === null ? 0 : Buffer.byteLength(text));
  const bytes = Buffer.allocUnsafe(size);
  let at = writeHeader(bytes, TEXT, texts.length);
  for (const text of texts) {
    const written = text === null ? 0 : bytes.write(text, at + 4);
    bytes.writeInt32BE(text === null ? NULL_LENGTH : written, at);
    at += 4 + written;
  }
  return bytes;
}

/** Byte strings as a bytea[] parameter in the same form. */
export function byteaArray(values: readonly Uint8Array[]): Buffer {
  const size = values.reduce((sum, value) => sum + 4 + value.length, HEADER_BYTES);
  const bytes = Buffer.allocUnsafe(size);
  let at = writeHeader(bytes, BYTEA, values.length);
  for (const value of values) {
    at = bytes.writeInt32BE(value.length, at);
    bytes.set(value, at);
    at += value.length;
  }
  return bytes;
}

/** One dimension, counted from 1. The flag says that nulls may come, which is allowed to be untrue. */
function writeHeader(bytes: Buffer, elementType: number, length: number): number {
  let at = bytes.writeInt32BE(1, 0);
  at = bytes.writeInt32BE(elementType === TEXT ? 1 : 0, at);
  at = bytes.writeInt32BE(elementType, at);
  at = bytes.writeInt32BE(length, at);
  return bytes.writeInt32BE(1, at);
}
