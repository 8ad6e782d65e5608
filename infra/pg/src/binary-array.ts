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
  FLOAT8,
  type Target,
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

/** A field of a composite type: its type, and how its value is taken from a row. A value is never NULL. */
type Field<Row> = {
  /** The name of its type, as PostgreSQL prints it. */
  readonly type: string;
  /** The bytes of its value; a number where all rows have as many. */
  readonly size: number | ((row: Row) => number);
  /** Writes its type, length and value, and returns where they end. */
  readonly write: (target: Target, at: number, row: Row) => number;
};

/** A composite type of the database and how rows become values of it. */
export type Composite<Row> = {
  /** The name of the type with its schema. */
  readonly name: string;
  /** By the names of its attributes, in their order. */
  readonly fields: Readonly<Record<string, Field<Row>>>;
  /**
   * Returns rows as a parameter of the array type in PostgreSQL's binary form (array_send of record_send): numbers and bytes as they are. PostgreSQL
   * refuses rows whose fields have other types than the attributes.
   */
  readonly array: (rows: readonly Row[]) => Buffer;
};

const FIELD_HEADER_BYTES = 8;
const ROW_HEADER_BYTES = 8;
/** PostgreSQL ignores what the header says of a type that it did not bring along, whose number differs between databases (version 14 and later). */
const UNKNOWN_OID = 0;

const ofType =
  <Value>({ name, oid, size, write }: BinaryType<Value>) =>
  <Row>(valueOf: (row: Row) => Value): Field<Row> => ({
    type: name,
    size: typeof size === "number" ? size : (row) => size(valueOf(row)),
    write(target, at, row) {
      const value = valueOf(row);
      const length = typeof size === "number" ? size : size(value);
      target.view.setInt32(at, oid);
      target.view.setInt32(at + 4, length);
      write(target, at + FIELD_HEADER_BYTES, value);
      return at + FIELD_HEADER_BYTES + length;
    },
  });

/** Makers of fields, from the function that returns the value of a row. */
export const field = {
  bool: ofType(BOOL),
  bytea: ofType(BYTEA),
  float8: ofType(FLOAT8),
  float8Array: ofType(FLOAT8_ARRAY),
  int4: ofType(INT4),
  int8: ofType(INT8),
  text: ofType(TEXT),
  uuid: ofType(UUID),
};

/** Declares a composite type by its name and its attributes in their order. */
export function composite<Row>(name: string, fields: Composite<Row>["fields"]): Composite<Row> {
  const inOrder = Object.values(fields);
  let fixedSize = ROW_HEADER_BYTES + FIELD_HEADER_BYTES * inOrder.length;
  const sizes: ((row: Row) => number)[] = [];
  for (const { size } of inOrder) {
    if (typeof size === "number") fixedSize += size;
    else sizes.push(size);
  }
  return {
    name,
    fields,
    array(rows) {
      let size = ARRAY_HEADER_BYTES + fixedSize * rows.length;
      for (const row of rows) for (const sizeOf of sizes) size += sizeOf(row);
      const target = newTarget(size);
      const { bytes, view } = target;
      let start = writeArrayHeader(view, 0, UNKNOWN_OID, rows.length);
      for (const row of rows) {
        view.setInt32(start + 4, inOrder.length);
        let at = start + ROW_HEADER_BYTES;
        for (const { write } of inOrder) at = write(target, at, row);
        // The length of a row does not count itself.
        view.setInt32(start, at - start - 4);
        start = at;
      }
      return bytes;
    },
  };
}
