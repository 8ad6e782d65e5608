import {
  ARRAY_HEADER_BYTES,
  BOOL,
  BYTEA,
  FLOAT8_ARRAY,
  INT4,
  INT8,
  newTarget,
  TEXT,
  UUID,
  writeArrayHeader,
  type BinaryType,
} from "./binary-type.ts";

const LENGTH_BYTES = 4;
const NULL_LENGTH = -1;

/**
 * Returns numbers as a float8[] parameter in PostgreSQL's binary form (array_send): exact, and without the conversions to decimal text and back
 * that the text form costs on both sides.
 */
export function float8Array(numbers: ArrayLike<number>): Buffer {
  const target = newTarget(sizeOf(FLOAT8_ARRAY, numbers));
  FLOAT8_ARRAY.write(target, 0, numbers);
  return target.bytes;
}

/** Returns whole numbers as an int4[] parameter in the same form. */
export const int4Array = (numbers: ArrayLike<number>): Buffer => arrayOf(INT4, numbers);

/** Returns whole numbers below 2^53 as an int8[] parameter in the same form. */
export const int8Array = (numbers: ArrayLike<number>): Buffer => arrayOf(INT8, numbers);

/** Returns truth values as a boolean[] parameter in the same form. */
export const boolArray = (values: readonly boolean[]): Buffer => arrayOf(BOOL, values);

/** Returns ids as a uuid[] parameter in the same form. */
export const uuidArray = (ids: readonly string[]): Buffer => arrayOf(UUID, ids);

/** Returns well-formed texts without NUL characters as a text[] parameter in the same form; null is SQL's NULL. */
export const textArray = (texts: readonly (string | null)[]): Buffer => arrayOf(TEXT, texts);

/** Returns byte strings as a bytea[] parameter in the same form. */
export const byteaArray = (values: readonly Uint8Array[]): Buffer => arrayOf(BYTEA, values);

function sizeOf<Value>({ size }: BinaryType<Value>, value: Value): number {
  return typeof size === "number" ? size : size(value);
}

function arrayOf<Value>(type: BinaryType<Value>, values: ArrayLike<Value | null>): Buffer {
  const { oid, write } = type;
  let size = ARRAY_HEADER_BYTES + LENGTH_BYTES * values.length;
  let hasNulls = false;
  for (let i = 0; i < values.length; i++) {
    const value = values[i]!;
    if (value === null) hasNulls = true;
    else size += sizeOf(type, value);
  }
  const target = newTarget(size);
  let at = writeArrayHeader(target.view, 0, oid, values.length, hasNulls);
  for (let i = 0; i < values.length; i++) {
    const value = values[i]!;
    const length = value === null ? NULL_LENGTH : sizeOf(type, value);
    target.view.setInt32(at, length);
    at += LENGTH_BYTES;
    if (value === null) continue;
    write(target, at, value);
    at += length;
  }
  return target.bytes;
}

/** Reads a float8[] of one dimension and without nulls from its binary form. */
export function readFloat8Array(bytes: Buffer): Float64Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const numbers = new Float64Array((bytes.length - ARRAY_HEADER_BYTES) / 12);
  // The length of each element, four bytes, precedes it.
  for (let i = 0, at = ARRAY_HEADER_BYTES + 4; i < numbers.length; i++, at += 12) numbers[i] = view.getFloat64(at);
  return numbers;
}
