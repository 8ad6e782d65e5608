import pg from "pg";
import { Parser } from "pg-protocol/dist/parser.js";

/** The code of the message that holds one row (PostgreSQL protocol, DataRow). */
const DATA_ROW = 68;
const NULL_LENGTH = -1;

type Message = { readonly name: string; readonly fields?: readonly { readonly format?: string }[] };
/** What is used of the driver's parser and connection beyond their declarations. */
type PacketReader = { handlePacket(offset: number, code: number, length: number, bytes: Buffer): Message };
type Connected = {
  attachListeners(stream: NodeJS.ReadableStream): void;
  emit(event: string, message: unknown): boolean;
};

/**
 * A client that also takes results in PostgreSQL's binary form. The driver asks for that form when it is told to, but then reads each column as
 * UTF-8 text, which destroys bytes. Here the columns of binary rows are handed on as they came. They lie in memory that is used again, so
 * what keeps bytes of them must copy these at once. Text results are read by the driver itself.
 */
export class BinaryClient extends pg.Client {
  constructor(config?: pg.ClientConfig) {
    super(config);
    const { connection } = this as unknown as { connection: Connected };
    connection.attachListeners = (stream) => {
      const parser = new Parser();
      handOnBinaryRows(parser as unknown as PacketReader);
      stream.on("data", (bytes: Buffer) => {
        parser.parse(bytes, (message) => {
          const { name } = message as Message;
          connection.emit(name === "error" ? "errorMessage" : name, message);
        });
      });
    };
  }
}

/** Rows are read anew while the latest description of a result says that it is binary, which it is in all its columns or none. */
function handOnBinaryRows(parser: PacketReader): void {
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
