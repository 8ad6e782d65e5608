import { writeNumber } from "./write-points.ts";

/** Most bytes of a number with the comma behind it. */
const NUMBER_BYTES_MAX = 26;
const OPEN = "[".charCodeAt(0);
const COMMA = ",".charCodeAt(0);
const CLOSE = "]".charCodeAt(0);

/** Returns a bound of the bytes that {@link writeColumn} writes. */
export function columnBytesMax({ length }: { readonly length: number }): number {
  return 2 + NUMBER_BYTES_MAX * length;
}

/** Writes numbers as a JSON array into `bytes` from byte `from`, and returns where it ends. Each number is as JSON.stringify writes it. */
export function writeColumn(bytes: Buffer, from: number, column: readonly number[]): number {
  let at = from;
  bytes[at++] = OPEN;
  for (let i = 0; i < column.length; i++) {
    if (i > 0) bytes[at++] = COMMA;
    at = writeNumber(bytes, at, column[i]!);
  }
  bytes[at++] = CLOSE;
  return at;
}
