import { archiveError } from "./archive-error.ts";

/*
 * Columns as the messages of exports carry them: the bytes of typed arrays, which on every machine that we run on have the lowest byte first. A field
 * of doubles would be decoded number by number.
 */

/** Returns the bytes of a column, uncopied. */
export function bytesOfColumn(column: Float64Array | Uint32Array): Uint8Array {
  return new Uint8Array(column.buffer, column.byteOffset, column.byteLength);
}

/** Returns the doubles that these bytes are, uncopied where they are aligned. @throws ArchiveError for a part of one */
export function doublesOfBytes(bytes: Uint8Array): Float64Array {
  const whole = aligned(bytes, Float64Array.BYTES_PER_ELEMENT);
  return new Float64Array(whole.buffer, whole.byteOffset, whole.byteLength / Float64Array.BYTES_PER_ELEMENT);
}

/** Returns the indexes that these bytes are, uncopied where they are aligned. @throws ArchiveError for a part of one */
export function indexesOfBytes(bytes: Uint8Array): Uint32Array {
  const whole = aligned(bytes, Uint32Array.BYTES_PER_ELEMENT);
  return new Uint32Array(whole.buffer, whole.byteOffset, whole.byteLength / Uint32Array.BYTES_PER_ELEMENT);
}

function aligned(bytes: Uint8Array, size: number): Uint8Array {
  if (bytes.byteLength % size !== 0) throw archiveError("a column ends within a number");
  return bytes.byteOffset % size === 0 ? bytes : Uint8Array.from(bytes);
}
