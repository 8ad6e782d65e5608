import { fromBinary, toBinary } from "@bufbuild/protobuf";
import { TableChunkSchema, type TableChunk } from "@tidemark/proto/ingest/v1/objects";
import { constants, zstdCompressSync, zstdDecompressSync } from "node:zlib";
import type { PackedChunk } from "./object.rules.ts";

const PLAIN = 0;
const ZSTD = 1;
/** Bytes that are unpacked at a time: most chunks are not longer. The library's default of 16 KiB takes four times as long. */
const unpacking = { chunkSize: 256 * 1024 };
const compression = { params: { [constants.ZSTD_c_compressionLevel]: 1 } };

/** Packs a chunk. */
export function packChunk(chunk: TableChunk): PackedChunk {
  const plain = toBinary(TableChunkSchema, chunk);
  const packed = zstdCompressSync(plain, compression);
  const rows =
    packed.length < plain.length ? Buffer.concat([Buffer.of(ZSTD), packed]) : Buffer.concat([Buffer.of(PLAIN), plain]);
  return { rows, bytes: chunk.columns.reduce((sum, cells) => sum + cells.length, 0) };
}

/** Reads the rows that `packChunk` wrote. @throws Error for anything else */
export function unpackChunk(bytes: Buffer): TableChunk {
  const rest = bytes.subarray(1);
  if (bytes[0] === PLAIN) return fromBinary(TableChunkSchema, rest);
  if (bytes[0] === ZSTD) return fromBinary(TableChunkSchema, zstdDecompressSync(rest, unpacking));
  throw new Error(`a chunk of a table is stored in a form that is not known: ${bytes[0]}`);
}
