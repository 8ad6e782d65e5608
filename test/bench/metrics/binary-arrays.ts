// Parameters of array types in PostgreSQL's binary form, which its driver sends as they are.

const HEADER_BYTES = 20;
const oids = { int4: 23, int8: 20, float8: 701, text: 25, timestamptz: 1184 } as const;

/** Microseconds from 1970 to 2000, where PostgreSQL begins to count. */
const EPOCH_US = 946_684_800_000_000;

function writeHeader(bytes: Buffer, type: keyof typeof oids, length: number): void {
  bytes.writeInt32BE(1, 0);
  bytes.writeInt32BE(0, 4);
  bytes.writeInt32BE(oids[type], 8);
  bytes.writeInt32BE(length, 12);
  bytes.writeInt32BE(1, 16);
}

/** Writes a time, in microseconds since 1970, as PostgreSQL has it in binary form, eight bytes. */
export function writeTimestamp(bytes: Buffer, micros: number, at: number): void {
  const since2000 = micros - EPOCH_US;
  bytes.writeInt32BE(Math.floor(since2000 / 2 ** 32), at);
  bytes.writeUInt32BE(since2000 - Math.floor(since2000 / 2 ** 32) * 2 ** 32, at + 4);
}

/** An array with one dimension. @param values whole numbers below 2^32 where the type is one of those; of times, microseconds since 1970 */
export function binaryArray(type: "int4" | "int8" | "float8" | "timestamptz", values: ArrayLike<number>): Buffer {
  const width = type === "int4" ? 4 : 8;
  const bytes = Buffer.allocUnsafe(HEADER_BYTES + values.length * (4 + width));
  writeHeader(bytes, type, values.length);
  let at = HEADER_BYTES;
  for (let index = 0; index < values.length; index += 1) {
    const value = values[index]!;
    bytes.writeInt32BE(width, at);
    if (type === "float8") bytes.writeDoubleBE(value, at + 4);
    else if (type === "int4") bytes.writeInt32BE(value, at + 4);
    else if (type === "timestamptz") writeTimestamp(bytes, value, at + 4);
    else {
      bytes.writeInt32BE(0, at + 4);
      bytes.writeUInt32BE(value, at + 8);
    }
    at += 4 + width;
  }
  return bytes;
}

/** A text[] of `count` elements in which the texts recur in turn. @param count a multiple of the number of texts */
export function textArray(texts: readonly string[], count: number): Buffer {
  const elements = texts.map((text) => {
    const bytes = Buffer.from(text);
    const length = Buffer.alloc(4);
    length.writeInt32BE(bytes.length);
    return Buffer.concat([length, bytes]);
  });
  const turn = Buffer.concat(elements);
  const bytes = Buffer.alloc(HEADER_BYTES + (turn.length * count) / texts.length);
  writeHeader(bytes, "text", count);
  bytes.fill(turn, HEADER_BYTES);
  return bytes;
}
