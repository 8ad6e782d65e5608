import { constants, crc32, zstdCompressSync } from "node:zlib";
import { CHECKSUM_AT, HEADER_BYTES, LOG_BLOCK_VERSION, PACKED_NUMBERS, PACKED_TEXTS } from "./block-layout.ts";
import { countOf, type LogColumns } from "./log-columns.ts";
import { writeArrivals } from "./log-requests.ts";
import { writeTimes } from "./log-times.ts";
import { createVarintWriter } from "./varint.ts";

/** On console lines higher levels gain a few per cent and take many times as long. */
const ZSTD_LEVEL = 1;

/**
 * The block of some lines, which must be in order.
 * @param compressFrom bytes of numbers and texts from which on they are compressed, where that makes them smaller
 */
export function encodeLogBlock(columns: LogColumns, { compressFrom }: { readonly compressFrom: number }): Uint8Array {
  const numbers = encodeNumbers(columns);
  const texts = columns.text.subarray(columns.offsets[0], columns.offsets[countOf(columns)]);
  const compress = numbers.length + texts.length >= compressFrom;
  const packedNumbers = compress ? smaller(numbers) : numbers;
  const packedTexts = compress ? smaller(texts) : texts;
  const packed = (packedNumbers === numbers ? 0 : PACKED_NUMBERS) | (packedTexts === texts ? 0 : PACKED_TEXTS);

  const out = createVarintWriter(HEADER_BYTES + 24 + packedNumbers.length + packedTexts.length);
  out.bytes(Uint8Array.of(LOG_BLOCK_VERSION, packed, 0, 0, 0, 0));
  out.unsigned(numbers.length);
  out.unsigned(texts.length);
  out.unsigned(packedNumbers.length);
  out.bytes(packedNumbers);
  out.bytes(packedTexts);
  const block = out.done();
  new DataView(block.buffer).setUint32(CHECKSUM_AT, checksumOf(block), true);
  return block;
}

/** The checksum that a block should carry. */
export function checksumOf(block: Uint8Array): number {
  return crc32(block.subarray(HEADER_BYTES), crc32(block.subarray(0, CHECKSUM_AT)));
}

function smaller(bytes: Uint8Array): Uint8Array {
  const packed = zstdCompressSync(bytes, { params: { [constants.ZSTD_c_compressionLevel]: ZSTD_LEVEL } });
  return packed.length < bytes.length ? packed : bytes;
}

function encodeNumbers(columns: LogColumns): Uint8Array {
  const { lineNumbers, offsets } = columns;
  const count = countOf(columns);
  const out = createVarintWriter(12 * count + 64);
  out.unsigned(count);
  for (let i = 0, before = 0; i < count; before = lineNumbers[i++]!) out.unsigned(lineNumbers[i]! - before);
  writeArrivals(out, columns);
  writeTimes(out, columns);
  for (let i = 0; i < count; i++) out.unsigned(offsets[i + 1]! - offsets[i]!);
  return out.done();
}
