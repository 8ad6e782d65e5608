import { zstdDecompressSync } from "node:zlib";
import {
  CHECKSUM_AT,
  HEADER_BYTES,
  LINE_BYTES_MIN,
  LOG_BLOCK_VERSION,
  PACKED_NUMBERS,
  PACKED_TEXTS,
  PLAIN_BLOCK_VERSION,
  SECTION_BYTES_MAX,
} from "./block-layout.ts";
import { codecError } from "./codec-error.ts";
import { checksumOf } from "./encode-log-block.ts";
import { newColumns, type LogColumns } from "./log-columns.ts";
import { readArrivals } from "./log-requests.ts";
import { readTimes } from "./log-times.ts";
import { readPlainBlock } from "./read-plain-block.ts";
import { createVarintReader } from "./varint.ts";

/** What is known of the lines of a block beside it, and added to what it says of each. */
export type BlockBase = { readonly id: number; readonly createdUs: number };

const NO_BASE: BlockBase = { id: 0, createdUs: 0 };

/**
 * The lines of a block. May share the block's memory, which must then not change. Throws a LogCodecError for anything that
 * {@link encodeLogBlock} did not write: cut short, too long, changed in any byte, of an unknown version or codec.
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
  const input = createVarintReader(block, HEADER_BYTES);
  const numberBytes = input.unsigned();
  const textBytes = input.unsigned();
  const numbers = input.bytes(input.unsigned());
  const texts = input.bytes(input.left());
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
  const input = createVarintReader(numbers);
  const count = input.unsigned();
  // Before any room is reserved for them.
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
