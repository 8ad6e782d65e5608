import { codecError } from "../bytes/codec-error.ts";
import { newColumns, type LogColumns } from "./log-columns.ts";

/*
 * The arrangement that SQL can write by itself: the version byte, then for each line, big-endian as PostgreSQL's int8send and int4send write
 * it, line number, id and time of arrival in microseconds (8 bytes each), the client's time in microseconds (8 bytes, the lowest possible
 * number for none), bytes of the message (4), the message. No checksum and no compression: captured lines are written so, because their
 * numbers are not known before, and the next compaction packs them.
 */

const RECORD_BYTES = 36;
const NO_TIME = -(2n ** 63n);
const SECOND_US = 1_000_000n;

/** Decodes a plain block. Throws a CodecError if the records do not fill it exactly or a number is not a safe integer. */
export function readPlainBlock(block: Uint8Array): LogColumns {
  const view = new DataView(block.buffer, block.byteOffset, block.byteLength);
  const starts: number[] = [];
  let textBytes = 0;
  for (let at = 1; at < block.length;) {
    if (at + RECORD_BYTES > block.length) throw codecError("the log block is cut short");
    starts.push(at);
    const length = view.getUint32(at + 32);
    textBytes += length;
    at += RECORD_BYTES + length;
    if (at > block.length) throw codecError("the log block is cut short");
  }
  const columns = newColumns(starts.length, textBytes);
  let end = 0;
  starts.forEach((at, i) => {
    columns.lineNumbers[i] = safe(view.getBigInt64(at));
    columns.ids[i] = safe(view.getBigInt64(at + 8));
    columns.createdUs[i] = safe(view.getBigInt64(at + 16));
    const sentUs = view.getBigInt64(at + 24);
    if (sentUs === NO_TIME) columns.sentSeconds[i] = Number.NaN;
    else {
      const micros = ((sentUs % SECOND_US) + SECOND_US) % SECOND_US;
      columns.sentSeconds[i] = Number((sentUs - micros) / SECOND_US);
      columns.sentMicros[i] = Number(micros);
    }
    const length = view.getUint32(at + 32);
    columns.text.set(block.subarray(at + RECORD_BYTES, at + RECORD_BYTES + length), end);
    columns.offsets[i + 1] = end += length;
  });
  return columns;
}

function safe(number: bigint): number {
  const value = Number(number);
  if (!Number.isSafeInteger(value) || value < 0) throw codecError("a number of the log block is out of range");
  return value;
}
