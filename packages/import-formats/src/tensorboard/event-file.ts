import { createByteSource } from "../bytes/byte-source.ts";
import type { Warnings } from "../warnings.ts";
import { doubleOf, eachField } from "../bytes/wire-fields.ts";

/** Most bytes of a record that is read; a larger one is passed over. */
const TF_RECORD_BYTES_MAX = 64 * 1024 * 1024;

const HEADER_BYTES = 12;
const CHECK_BYTES = 4;

/**
 * Yields the records of a TFRecord file: length (8 bytes), its check, data, their check. A record whose data fail their check is counted and passed over;
 * after a length that fails its check nothing can be found any more. Passed over records are yielded as undefined, so that a record keeps its number.
 */
export async function* tfRecords(
  pieces: AsyncIterable<Uint8Array>,
  warnings: Warnings,
  file: string,
): AsyncGenerator<Buffer | undefined, void> {
  const source = createByteSource(pieces);
  try {
    for (;;) {
      const header = await source.take(HEADER_BYTES);
      if (header.length === 0) return;
      if (header.length < HEADER_BYTES) return warnings.add("torn_tail", file);
      if (header.readUInt32LE(8) !== maskedCrc32c(header.subarray(0, 8))) return warnings.add("damaged", file);
      const length = Number(header.readBigUInt64LE(0));
      if (length > TF_RECORD_BYTES_MAX) {
        if ((await source.skip(length + CHECK_BYTES)) < length + CHECK_BYTES) return warnings.add("torn_tail", file);
        warnings.add("too_large", file);
        yield undefined;
        continue;
      }
      const record = await source.take(length + CHECK_BYTES);
      if (record.length < length + CHECK_BYTES) return warnings.add("torn_tail", file);
      const data = record.subarray(0, length);
      const whole = record.readUInt32LE(length) === maskedCrc32c(data);
      if (!whole) warnings.add("damaged", file);
      yield whole ? data : undefined;
    }
  } finally {
    await source.close();
  }
}

const crcTable = Uint32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte;
  for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0x82f6_3b78 : crc >>> 1;
  return crc;
});

/** Returns the CRC-32C (RFC 3720, Castagnoli) of bytes as TFRecord files keep it: rotated and offset, so that it may be part of the checked bytes. */
export function maskedCrc32c(bytes: Uint8Array): number {
  let crc = 0xffff_ffff;
  for (let i = 0; i < bytes.length; i++) crc = crcTable[(crc ^ bytes[i]!) & 0xff]! ^ (crc >>> 8);
  crc = ~crc >>> 0;
  return (((crc >>> 15) | (crc << 17)) + 0xa282_ead8) >>> 0;
}

/** An `Event` of tensorboard/compat/proto/event.proto. */
export type TfEvent = {
  /** Milliseconds since 1970; NaN where the event has none. */
  readonly time: number;
  readonly step: number;
  /** The step with all its digits, where a double may not hold it. */
  readonly longStep?: bigint;
  /** Its `Summary.Value` messages. */
  readonly values: readonly Buffer[];
  /** Whether its writer starts with it, which takes back what was written before from this step on. */
  readonly starts: boolean;
  /** Whether the bytes of the event are damaged; the rest of it is what precedes the damage. */
  readonly damaged: boolean;
};

const SESSION_START = 1;

/** Reads an event. */
export function readEvent(record: Buffer): TfEvent {
  let [time, step, starts, whole] = [Number.NaN, 0, false, true];
  const values: Buffer[] = [];
  let longStep: bigint | undefined;
  const wholeRecord = eachField(record, (field) => {
    if (field.number === 1 && field.wire === 1) time = doubleOf(field) * 1000;
    else if (field.number === 2 && field.wire === 0) [step, longStep] = [field.int, field.long];
    else if (field.number === 5 && field.wire === 2) {
      const wholeSummary = eachField(field.bytes, ({ number, wire, bytes }) => {
        if (number === 1 && wire === 2) values.push(bytes);
      });
      whole &&= wholeSummary;
    } else if (field.number === 7 && field.wire === 2) {
      eachField(field.bytes, ({ number, int }) => {
        if (number === 1) starts = int === SESSION_START;
      });
    }
  });
  return {
    time,
    step,
    ...(longStep === undefined ? {} : { longStep }),
    values,
    starts,
    damaged: !(whole && wholeRecord),
  };
}
