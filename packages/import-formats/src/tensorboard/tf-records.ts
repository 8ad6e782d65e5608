import { createByteSource } from "../bytes/byte-source.ts";
import type { Warnings } from "../warnings.ts";
import { maskedCrc32c } from "./crc32c.ts";

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
