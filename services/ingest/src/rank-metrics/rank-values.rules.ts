/*
 * The values of rank metrics are stored as doubles in network order. The NaN with a mantissa of one bit says that a row of a page has no value of a key
 * (`ingest.has_rank_value`). A NaN that a rank reported has other bits, whatever the client sent.
 */

/** Bytes of a value. */
export const VALUE_BYTES = 8;

const NAN_HIGH = 0x7ff8_0000;
const GAP_LOW = 0;
const REPORTED_LOW = 1;

/** Writes a reported value. */
export function writeValue(target: DataView, at: number, value: number): void {
  if (Number.isNaN(value)) writeBits(target, at, REPORTED_LOW);
  else target.setFloat64(at, value);
}

/** Marks a missing value. */
export function writeGap(target: DataView, at: number): void {
  writeBits(target, at, GAP_LOW);
}

/** Whether a value is missing. */
export function isGap(bytes: Buffer, at: number): boolean {
  return bytes.readUInt32BE(at) === NAN_HIGH && bytes.readUInt32BE(at + 4) === GAP_LOW;
}

function writeBits(target: DataView, at: number, low: number): void {
  target.setUint32(at, NAN_HIGH);
  target.setUint32(at + 4, low);
}
