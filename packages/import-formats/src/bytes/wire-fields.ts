/** A field of a protobuf message. */
export type WireField = {
  readonly number: number;
  /** 0 varint, 1 eight bytes, 2 bytes of a length, 5 four bytes. */
  readonly wire: 0 | 1 | 2 | 5;
  /** The value of a varint as a signed integer of 64 bits, rounded where a double does not hold it; 0 of other fields. */
  readonly int: number;
  /** The same with all its digits, where it may have more than a double holds. */
  readonly long?: bigint;
  /** The bytes of a field that is not a varint, as a view. */
  readonly bytes: Buffer;
};

/** Where a message is read. */
type Cursor = { readonly bytes: Buffer; at: number };

const none = Buffer.alloc(0);

/**
 * Calls `visit` with the fields of a protobuf message in their order (https://protobuf.dev/programming-guides/encoding). Every length is bounded by the bytes that
 * are left. Returns whether the message is whole; `visit` has seen the fields before the damage.
 */
export function eachField(message: Buffer, visit: (field: WireField) => void): boolean {
  const cursor: Cursor = { bytes: message, at: 0 };
  while (cursor.at < message.length) {
    const tag = readVarint(cursor);
    if (tag === undefined || tag < 8 || tag > 0xffff_ffff) return false;
    const [number, wire] = [Math.floor(tag / 8), tag % 8];
    if (wire === 0) {
      const value = readLong(cursor);
      if (value === undefined) return false;
      if (typeof value === "number") visit({ number, wire, int: value, bytes: none });
      else visit({ number, wire, int: Number(value), long: value, bytes: none });
      continue;
    }
    if (wire !== 1 && wire !== 2 && wire !== 5) return false;
    const length = wire === 1 ? 8 : wire === 5 ? 4 : readVarint(cursor);
    if (length === undefined || length < 0 || length > message.length - cursor.at) return false;
    const { at } = cursor;
    cursor.at += length;
    visit({ number, wire, int: 0, bytes: message.subarray(at, cursor.at) });
  }
  return true;
}

/** Returns the integers of a packed list, up to the damage if there is some. */
export function packedInts(bytes: Buffer): number[] {
  const cursor: Cursor = { bytes, at: 0 };
  const ints: number[] = [];
  while (cursor.at < bytes.length) {
    const int = readVarint(cursor);
    if (int === undefined) break;
    ints.push(int);
  }
  return ints;
}

/** Returns the doubles of a field: one of eight bytes, or a packed list, whose last incomplete number is left out. */
export function doublesOf({ wire, bytes }: WireField): number[] {
  if (wire !== 1 && wire !== 2) return [];
  return Array.from({ length: Math.floor(bytes.length / 8) }, (_, i) => bytes.readDoubleLE(i * 8));
}

/** Returns the number of a field of eight bytes (double) or of four (float); NaN of others. */
export function doubleOf({ wire, bytes }: WireField): number {
  if (wire === 1) return bytes.readDoubleLE(0);
  return wire === 5 ? bytes.readFloatLE(0) : Number.NaN;
}

/** Returns the text of a field; invalid UTF-8 becomes U+FFFD. */
export function textOf({ bytes }: WireField): string {
  return bytes.toString("utf8");
}

function readVarint(cursor: Cursor): number | undefined {
  const value = readLong(cursor);
  return typeof value === "bigint" ? Number(value) : value;
}

/** Returns a varint as a signed integer of 64 bits. */
function readLong(cursor: Cursor): number | bigint | undefined {
  const { bytes } = cursor;
  let value = 0;
  let scale = 1;
  // Seven bytes have 49 bits, which a double holds; only longer numbers need a bigint.
  for (let i = 0; i < 7 && cursor.at < bytes.length; i++, scale *= 0x80) {
    const byte = bytes[cursor.at++]!;
    value += (byte & 0x7f) * scale;
    if (byte < 0x80) return value;
  }
  let high = 0n;
  for (let shift = 49n; shift < 70n && cursor.at < bytes.length; shift += 7n) {
    const byte = bytes[cursor.at++]!;
    high |= BigInt(byte & 0x7f) << shift;
    if (byte < 0x80) return BigInt.asIntN(64, high + BigInt(value));
  }
  return undefined;
}
