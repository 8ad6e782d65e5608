import pg from "pg";

const INT8 = 20;
const TIMESTAMPTZ = 1184;
const JSON_TEXT = 114;
const JSONB = 3802;
const NUMERIC = 1700;
const BOOL = 16;
const BYTEA = 17;
const INT2 = 21;
const INT4 = 23;
const TEXT = 25;
const FLOAT8 = 701;
const UUID = 2950;

/**
 * Turns `2026-01-02 03:04:05.678901+00` into RFC 3339 with the microseconds that PostgreSQL keeps.
 * Sessions run in UTC (see `createDb`), so the offset is always `+00`.
 */
function rfc3339(text: string): string {
  return `${text.replace(" ", "T").replace(/\+00(:00)?$/, "")}Z`;
}

/** Readers of the columns of binary results, which may only have these types. */
const binaryColumns = new Map<number, (bytes: Buffer) => unknown>([
  [BOOL, (bytes) => bytes[0] === 1],
  [BYTEA, (bytes) => bytes],
  [INT2, (bytes) => bytes.readInt16BE()],
  [INT4, (bytes) => bytes.readInt32BE()],
  [INT8, (bytes) => Number(bytes.readBigInt64BE())],
  [FLOAT8, (bytes) => bytes.readDoubleBE()],
  [TEXT, (bytes) => bytes.toString("utf8")],
  [UUID, (bytes) => bytes.toString("hex").replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-")],
]);

/** Throws only when a value arrives, because the driver handles errors only then. */
function refuseType(oid: number): () => never {
  return () => {
    throw new Error(`no binary form is known of the type ${oid}`);
  };
}

function binaryColumn(oid: number): (bytes: Buffer) => unknown {
  return binaryColumns.get(oid) ?? refuseType(oid);
}

/** Types of binary results whose bytes are views of the memory in which they arrived, which is reused. */
export const viewTypes: pg.CustomTypesConfig = { getTypeParser: binaryColumn };

/**
 * The form of column values: 64-bit integers as numbers (all stored ones are below 2^53), instants as
 * RFC 3339 texts in UTC, JSON as its text so that numbers keep their digits. Binary results support
 * fewer types and return the same values for them.
 */
export const columnTypes: pg.CustomTypesConfig = {
  getTypeParser(oid: number, format?: unknown) {
    // A copy: see BinaryClient.
    if (format === "binary") return oid === BYTEA ? (bytes: Buffer) => Buffer.from(bytes) : binaryColumn(oid);
    if (oid === INT8) return Number;
    if (oid === TIMESTAMPTZ) return rfc3339;
    if (oid === JSON_TEXT || oid === JSONB || oid === NUMERIC) return (text: string) => text;
    return pg.types.getTypeParser(oid, "text") as (text: string) => unknown;
  },
};
