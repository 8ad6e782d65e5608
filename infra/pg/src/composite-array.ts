import {
  ARRAY_HEADER_BYTES,
  BOOL,
  BYTEA,
  FLOAT8,
  FLOAT8_ARRAY,
  INT4,
  INT8,
  newTarget,
  TEXT,
  UUID,
  writeArrayHeader,
  type BinaryType,
  type Target,
} from "./binary-type.ts";

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
