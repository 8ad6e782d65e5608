import { constants, crc32, zstdCompressSync, zstdDecompressSync } from "node:zlib";
import { codecError, createByteReader, createByteWriter } from "../bytes.ts";
import { readArrivals, writeArrivals, readTimes, writeTimes } from "./line-times.ts";
import { countOf, newColumns, type LogColumns } from "./log-columns.ts";

/*
 * A log block contains lines of one stream, in order.
 *
 *   at  size       what
 *    0  u8         version, 1
 *    1  u8         which sections are compressed with zstd: 1 the numbers, 2 the texts, 3 both, 0 none
 *    2  u32        CRC-32 of the bytes 0 to 1 and of everything from byte 6 on, little-endian
 *    6  varint x 3 bytes of the numbers uncompressed, bytes of the texts uncompressed, bytes of the numbers as stored here
 *       the rest   the numbers, then the texts: the messages in UTF-8, one after another
 *
 * The numbers, all varints (LEB128, see ByteWriter):
 *
 *   number of lines
 *   line numbers: the first, then differences
 *   arrivals, then client times (see line-times.ts)
 *   bytes of each message
 *
 * Numbers and texts are compressed separately, because they share neither words nor byte frequencies: together they take 8 % more space. A
 * new arrangement needs a new version, and a reader refuses versions that it does not know. Version 2 is the plain arrangement
 * below, which only SQL writes.
 */

/** The first byte of what {@link encodeLogBlock} writes. */
const LOG_BLOCK_VERSION = 1;
/** The first byte of a block that SQL wrote. */
const PLAIN_BLOCK_VERSION = 2;

const PACKED_NUMBERS = 1;
const PACKED_TEXTS = 2;

/** Bytes before the sizes. */
const HEADER_BYTES = 6;
const CHECKSUM_AT = 2;

/** The least bytes that a line takes of the numbers: its number, its place in the request, its time and its length. */
const LINE_BYTES_MIN = 4;

/** The largest section of a block. Writers stay far below it; the bound protects readers from damaged blocks. */
const SECTION_BYTES_MAX = 64 * 1024 * 1024;

/** Higher levels save a few percent on console lines and take many times as long. */
const ZSTD_LEVEL = 1;

/**
 * Encodes lines, which must be in order, as a block.
 * @param compressFrom numbers and texts are compressed if they have at least this many bytes together and become smaller
 */
export function encodeLogBlock(columns: LogColumns, { compressFrom }: { readonly compressFrom: number }): Uint8Array {
  const numbers = encodeNumbers(columns);
  const texts = columns.text.subarray(columns.offsets[0], columns.offsets[countOf(columns)]);
  const compress = numbers.length + texts.length >= compressFrom;
  const packedNumbers = compress ? smaller(numbers) : numbers;
  const packedTexts = compress ? smaller(texts) : texts;
  const packed = (packedNumbers === numbers ? 0 : PACKED_NUMBERS) | (packedTexts === texts ? 0 : PACKED_TEXTS);

  const out = createByteWriter(HEADER_BYTES + 24 + packedNumbers.length + packedTexts.length);
  out.raw(Uint8Array.of(LOG_BLOCK_VERSION, packed, 0, 0, 0, 0));
  out.unsigned(numbers.length);
  out.unsigned(texts.length);
  out.unsigned(packedNumbers.length);
  out.raw(packedNumbers);
  out.raw(packedTexts);
  const block = out.done();
  new DataView(block.buffer, block.byteOffset).setUint32(CHECKSUM_AT, checksumOf(block), true);
  return block;
}

/** Returns the checksum that the block should have in its header. */
function checksumOf(block: Uint8Array): number {
  return crc32(block.subarray(HEADER_BYTES), crc32(block.subarray(0, CHECKSUM_AT)));
}

function smaller(bytes: Uint8Array): Uint8Array {
  const packed = zstdCompressSync(bytes, { params: { [constants.ZSTD_c_compressionLevel]: ZSTD_LEVEL } });
  return packed.length < bytes.length ? packed : bytes;
}

function encodeNumbers(columns: LogColumns): Uint8Array {
  const { lineNumbers, offsets } = columns;
  const count = countOf(columns);
  const out = createByteWriter(12 * count + 64);
  out.unsigned(count);
  for (let i = 0, before = 0; i < count; before = lineNumbers[i++]!) out.unsigned(lineNumbers[i]! - before);
  writeArrivals(out, columns);
  writeTimes(out, columns);
  for (let i = 0; i < count; i++) out.unsigned(offsets[i + 1]! - offsets[i]!);
  return out.done();
}

/** Base values stored next to a block; they are added to the id and the time of arrival of each line. */
export type BlockBase = { readonly id: number; readonly createdUs: number };

const NO_BASE: BlockBase = { id: 0, createdUs: 0 };

/**
 * Decodes a block. The result may share the block's memory, which must then not change. Throws a CodecError for bytes that
 * {@link encodeLogBlock} did not write: cut short, too long, changed in any byte, or of an unknown version or codec.
 */
export function decodeLogBlock(block: Uint8Array, base: BlockBase = NO_BASE): LogColumns {
  const columns = block[0] === PLAIN_BLOCK_VERSION ? readPlainBlock(block) : decodeSections(sectionsOf(block));
  addBase(columns, base);
  checkOrder(columns);
  return columns;
}

type Sections = { readonly numbers: Uint8Array; readonly texts: Uint8Array };

function sectionsOf(block: Uint8Array): Sections {
  if (block.length === 0) throw codecError("the log block is empty");
  if (block[0] !== LOG_BLOCK_VERSION) throw codecError("the log block has an unknown version");
  if (block.length <= HEADER_BYTES) throw codecError("the log block is cut short");
  const checksum = new DataView(block.buffer, block.byteOffset, HEADER_BYTES).getUint32(CHECKSUM_AT, true);
  if (checksum !== checksumOf(block)) throw codecError("the log block is damaged");
  const packed = block[1]!;
  if (packed > (PACKED_NUMBERS | PACKED_TEXTS)) throw codecError("the log block has an unknown codec");
  const input = createByteReader(block, HEADER_BYTES);
  const numberBytes = input.unsigned();
  const textBytes = input.unsigned();
  const numbers = input.raw(input.unsigned());
  const texts = input.raw(input.left());
  return {
    numbers: section(numbers, numberBytes, (packed & PACKED_NUMBERS) !== 0),
    texts: section(texts, textBytes, (packed & PACKED_TEXTS) !== 0),
  };
}

function section(bytes: Uint8Array, size: number, packed: boolean): Uint8Array {
  if (size > SECTION_BYTES_MAX) throw codecError("the log block is too large");
  const whole = packed ? unpack(bytes, size) : bytes;
  if (whole.length !== size) throw codecError("the log block has another size than it says");
  return whole;
}

function unpack(bytes: Uint8Array, size: number): Uint8Array {
  try {
    return zstdDecompressSync(bytes, { maxOutputLength: Math.max(size, 1), chunkSize: Math.max(size, 64) });
  } catch (error) {
    throw codecError("the log block cannot be decompressed", error);
  }
}

function decodeSections({ numbers, texts }: Sections): LogColumns {
  const input = createByteReader(numbers);
  const count = input.unsigned();
  // Check before memory is allocated for them.
  if (count * LINE_BYTES_MIN > input.left()) throw codecError("the log block is cut short");
  const columns = { ...newColumns(count, 0), text: texts };
  for (let i = 0, line = 0; i < count; i++) columns.lineNumbers[i] = line += input.unsigned();
  readArrivals(input, columns);
  readTimes(input, columns);
  let end = 0;
  for (let i = 0; i < count; i++) {
    end += input.unsigned();
    if (end > texts.length) throw codecError("the messages of the log block do not add up");
    columns.offsets[i + 1] = end;
  }
  if (end !== texts.length || input.left() > 0) throw codecError("the messages of the log block do not add up");
  return columns;
}

function addBase({ ids, createdUs }: LogColumns, base: BlockBase): void {
  for (let i = 0; base.id !== 0 && i < ids.length; i++) ids[i]! += base.id;
  for (let i = 0; base.createdUs !== 0 && i < createdUs.length; i++) createdUs[i]! += base.createdUs;
}

function checkOrder({ lineNumbers, ids }: LogColumns): void {
  for (let i = 0; i < ids.length; i++) {
    const descends = i > 0 && (lineNumbers[i]! - lineNumbers[i - 1]! || ids[i]! - ids[i - 1]!) < 0;
    const fits = lineNumbers[i]! <= Number.MAX_SAFE_INTEGER && ids[i]! <= Number.MAX_SAFE_INTEGER;
    if (descends || !fits) throw codecError("the lines of the log block are not in order");
  }
}

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
function readPlainBlock(block: Uint8Array): LogColumns {
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
