/** A place to write to; the view covers the same bytes. */
export type Target = { readonly bytes: Buffer; readonly view: DataView };

/** A type of PostgreSQL and the binary form of its values (`<type>send`), without their lengths. */
export type BinaryType<Value> = {
  /** As PostgreSQL prints it. */
  readonly name: string;
  readonly oid: number;
  /** The bytes of a value; a number where all values have as many. */
  readonly size: number | ((value: Value) => number);
  /** Writes a value, which takes that many bytes. */
  readonly write: (target: Target, at: number, value: Value) => void;
};

const WORD = 2 ** 32;

export const BOOL: BinaryType<boolean> = {
  name: "boolean",
  oid: 16,
  size: 1,
  write: ({ view }, at, value) => view.setUint8(at, value ? 1 : 0),
};

export const BYTEA: BinaryType<Uint8Array> = {
  name: "bytea",
  oid: 17,
  size: (value) => value.length,
  write: ({ bytes }, at, value) => bytes.set(value, at),
};

/** Of whole numbers below 2^53, without the detour of a bigint. */
export const INT8: BinaryType<number> = {
  name: "bigint",
  oid: 20,
  size: 8,
  write: ({ view }, at, value) => {
    view.setInt32(at, Math.floor(value / WORD));
    view.setUint32(at + 4, value);
  },
};

export const INT4: BinaryType<number> = {
  name: "integer",
  oid: 23,
  size: 4,
  write: ({ view }, at, value) => view.setInt32(at, value),
};

/** Of well-formed texts without NUL characters. */
export const TEXT: BinaryType<string> = {
  name: "text",
  oid: 25,
  size: (value) => Buffer.byteLength(value),
  write: ({ bytes }, at, value) => void bytes.write(value, at),
};

export const FLOAT8: BinaryType<number> = {
  name: "double precision",
  oid: 701,
  size: 8,
  write: ({ view }, at, value) => view.setFloat64(at, value),
};

export const UUID: BinaryType<string> = {
  name: "uuid",
  oid: 2950,
  size: 16,
  write: ({ bytes }, at, value) => void bytes.write(value.replaceAll("-", ""), at, "hex"),
};

/** The bytes of an array before its first element. */
export const ARRAY_HEADER_BYTES = 20;
const FLOAT8_ELEMENT_BYTES = 12;

export const FLOAT8_ARRAY: BinaryType<ArrayLike<number>> = {
  name: "double precision[]",
  oid: 1022,
  size: ({ length }) => ARRAY_HEADER_BYTES + FLOAT8_ELEMENT_BYTES * length,
  // Not element by element through FLOAT8: key aggregates are ten thousand numbers a request.
  write: ({ view }, start, numbers) => {
    let at = writeArrayHeader(view, start, FLOAT8.oid, numbers.length);
    for (let i = 0; i < numbers.length; i++, at += FLOAT8_ELEMENT_BYTES) {
      view.setInt32(at, 8);
      view.setFloat64(at + 4, numbers[i]!);
    }
  },
};

/** Writes the header of an array of one dimension, counted from 1, and returns where the first element begins. */
export function writeArrayHeader(
  view: DataView,
  at: number,
  elementOid: number,
  length: number,
  hasNulls = false,
): number {
  view.setInt32(at, 1);
  view.setInt32(at + 4, hasNulls ? 1 : 0);
  view.setInt32(at + 8, elementOid);
  view.setInt32(at + 12, length);
  view.setInt32(at + 16, 1);
  return at + ARRAY_HEADER_BYTES;
}

/** Makes uninitialized bytes to write to. */
export function newTarget(size: number): Target {
  const bytes = Buffer.allocUnsafe(size);
  return { bytes, view: new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength) };
}
