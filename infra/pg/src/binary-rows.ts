import pg from "pg";
import { Parser } from "pg-protocol/dist/parser.js";
import { queryOf, rowOf, type Statement } from "./statement.ts";
import { viewTypes } from "./types.ts";

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
