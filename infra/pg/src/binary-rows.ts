import pg from "pg";
import { Parser } from "pg-protocol/dist/parser.js";
import { queryOf, rowOf, type Statement } from "./statement.ts";

/** The code of the message that holds one row (PostgreSQL protocol, DataRow). */
const DATA_ROW = 68;
const NULL_LENGTH = -1;

/**
 * Milliseconds that rows which arrived together may take before others get a turn. Without a pause Node reads 32 times 64 KiB of a connection before it
 * looks at any other one, and rows are decoded as they arrive.
 */
const LONG_MS = 1;

type Message = { readonly name: string; readonly fields?: readonly { readonly format?: string }[] };
/** Members of the driver's parser and connection that their declarations do not have. */
type PacketReader = { handlePacket(offset: number, code: number, length: number, bytes: Buffer): Message };
type Connected = {
  attachListeners(stream: NodeJS.ReadableStream): void;
  emit(event: string, message: unknown): boolean;
};

/**
 * A client that also accepts results in PostgreSQL's binary form. The driver can request that form, but then reads each column as UTF-8 text,
 * which destroys bytes. This client passes on the columns of binary rows unchanged. They are in memory that is reused, so code that keeps bytes
 * must copy them immediately. The driver itself reads text results.
 */
export class BinaryClient extends pg.Client {
  constructor(config?: pg.ClientConfig) {
    super(config);
    const { connection } = this as unknown as { connection: Connected };
    connection.attachListeners = (stream) => {
      const parser = new Parser();
      passOnBinaryRows(parser as unknown as PacketReader);
      stream.on("data", (bytes: Buffer) => {
        const sinceMs = performance.now();
        parser.parse(bytes, (message) => {
          const { name } = message as Message;
          connection.emit(name === "error" ? "errorMessage" : name, message);
        });
        if (performance.now() - sinceMs < LONG_MS) return;
        stream.pause();
        setImmediate(() => stream.resume());
      });
    };
  }
}

/** Reads rows while the latest description of a result says that it is binary; either all of its columns are binary or none. */
function passOnBinaryRows(parser: PacketReader): void {
  const read = parser.handlePacket.bind(parser);
  let binary = false;
  parser.handlePacket = (offset, code, length, bytes) => {
    if (binary && code === DATA_ROW) return { name: "dataRow", length, ...columnsAt(bytes, offset) } as Message;
    const message = read(offset, code, length, bytes);
    if (message.name === "rowDescription") binary = message.fields?.[0]?.format === "binary";
    return message;
  };
}

function columnsAt(bytes: Buffer, offset: number): { fieldCount: number; fields: (Buffer | null)[] } {
  const fieldCount = bytes.readInt16BE(offset);
  const fields: (Buffer | null)[] = [];
  let at = offset + 2;
  for (let i = 0; i < fieldCount; i++) {
    const length = bytes.readInt32BE(at);
    at += 4;
    fields.push(length === NULL_LENGTH ? null : bytes.subarray(at, at + length));
    if (length !== NULL_LENGTH) at += length;
  }
  return { fieldCount, fields };
}

/** The description that the driver passes on with each row of a query that does not collect rows. */
type Described = { readonly fields: readonly { readonly name: string }[] };

/**
 * Runs a statement with binary rows and passes each row on as it arrives, while PostgreSQL still sends the others. Bytes of a row are a view of
 * memory that is reused: they are valid until `take` returns. If `take` throws, the other rows are skipped, and the error is thrown when the
 * connection is free again.
 */
export function eachRow<Row>(
  client: pg.ClientBase,
  statement: Statement,
  values: readonly unknown[],
  take: (row: Row) => void,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const query = new pg.Query({ ...queryOf(statement, values), types: viewTypes });
    let names: readonly string[] | undefined;
    let fault: Error | undefined;
    query.on("row", (row: unknown, result) => {
      if (fault !== undefined) return;
      try {
        names ??= (result as unknown as Described).fields.map((field) => field.name);
        take(rowOf(names, row as readonly unknown[]) as Row);
      } catch (error) {
        fault = error instanceof Error ? error : new Error(String(error));
      }
    });
    query.on("error", reject);
    query.on("end", () => {
      if (fault === undefined) resolve();
      else reject(fault);
    });
    client.query(query);
  });
}

/** Turns the rows of a result from arrays into objects, as other results have them. */
export function withObjects(result: pg.QueryResult): pg.QueryResult {
  const names = result.fields.map(({ name }) => name);
  return { ...result, rows: (result.rows as unknown[][]).map((values) => rowOf(names, values)) };
}

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
const viewTypes: pg.CustomTypesConfig = { getTypeParser: binaryColumn };

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
