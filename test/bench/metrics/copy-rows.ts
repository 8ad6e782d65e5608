import type pg from "pg";
import { writeTimestamp } from "./binary-arrays.ts";

/** Of the driver's connection, what COPY needs beyond the typed part. */
type CopyConnection = pg.Connection & { sendCopyFromChunk(chunk: Buffer): void; endCopyFrom(): void };

/** Rows of (int4, int8, timestamptz, float8) in the format of `COPY … (FORMAT binary)`, to be filled one after another; times in microseconds since 1970. */
export type CopyBuffer = {
  add(series: number, step: number, timeUs: number, value: number): void;
  finish(): Buffer;
};

const SIGNATURE = Buffer.from("PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0", "latin1");
const ROW_BYTES = 2 + (4 + 4) + 3 * (4 + 8);

/** Creates a buffer for this many rows. */
export function copyBuffer(rows: number): CopyBuffer {
  const bytes = Buffer.allocUnsafe(SIGNATURE.length + rows * ROW_BYTES + 2);
  SIGNATURE.copy(bytes);
  let at = SIGNATURE.length;
  return {
    add(series, step, timeUs, value) {
      bytes.writeInt16BE(4, at);
      bytes.writeInt32BE(4, at + 2);
      bytes.writeInt32BE(series, at + 6);
      bytes.writeInt32BE(8, at + 10);
      // Steps of a benchmark fit into the lower half.
      bytes.writeInt32BE(0, at + 14);
      bytes.writeUInt32BE(step, at + 18);
      bytes.writeInt32BE(8, at + 22);
      writeTimestamp(bytes, timeUs, at + 26);
      bytes.writeInt32BE(8, at + 34);
      bytes.writeDoubleBE(value, at + 38);
      at += ROW_BYTES;
    },
    finish() {
      bytes.writeInt16BE(-1, at);
      return bytes.subarray(0, at + 2);
    },
  };
}

/** Sends one COPY whose whole data are in `data`, in one message. @throws the database's error */
export function copyIn(client: pg.Client, statement: string, data: Buffer): Promise<void> {
  return new Promise((resolve, reject) => {
    let failure: Error | undefined;
    const query = {
      submit: (connection: pg.Connection) => connection.query(statement),
      handleCopyInResponse(connection: CopyConnection) {
        connection.sendCopyFromChunk(data);
        connection.endCopyFrom();
      },
      handleCommandComplete: () => {},
      handleError: (error: Error) => {
        failure = error;
        reject(error);
      },
      handleReadyForQuery: () => {
        if (failure === undefined) resolve();
      },
    };
    client.query(query);
  });
}
