import { promisify } from "node:util";
import { constants, zstdCompressSync, zstdDecompress } from "node:zlib";
import { parseOwnJsonInTurns } from "@tidemark/documents";
import type { Content } from "./content.rules.ts";

/** Version of the form, its first byte. */
const FORM = 1;
/** The length of the texts and the number of points precede them. */
const HEAD_BYTES = 16;
/** Bytes of a point: three doubles and two indexes. */
const POINT_BYTES = 32;
/** A content is never larger: its body has at most 16 MiB, and an item of a few bytes there takes more here. */
const UNPACKED_BYTES_MAX = 512 * 1024 * 1024;

/** Packs a content for the database: texts as JSON, points as columns, all compressed. */
export function packContent(content: Content): Uint8Array {
  const { runs, sources, keys, attributes, artifacts, points } = content;
  const texts = JSON.stringify({ runs, sources, keys, attributes, artifacts });
  const count = points.steps.length;
  const textsEnd = HEAD_BYTES + Buffer.byteLength(texts);
  const bytes = Buffer.alloc(textsEnd + count * POINT_BYTES);
  bytes.writeUInt8(FORM, 0);
  bytes.writeUInt32LE(textsEnd - HEAD_BYTES, 4);
  bytes.writeUInt32LE(count, 8);
  // Not as separate bytes first, because they may be most of a body of 16 MiB.
  bytes.write(texts, HEAD_BYTES);
  let at = textsEnd;
  for (const column of [points.steps, points.values, points.timesUs, points.sources, points.keys]) {
    bytes.set(new Uint8Array(column.buffer, column.byteOffset, column.byteLength), at);
    at += column.byteLength;
  }
  return zstdCompressSync(bytes, { params: { [constants.ZSTD_c_compressionLevel]: 1 } });
}

const decompress = promisify(zstdDecompress);

/** Returns the packed content, in turns with other work of the process. @throws Error for bytes that `packContent` did not make */
export async function unpackContent(packed: Uint8Array): Promise<Content> {
  const bytes = await decompress(packed, { maxOutputLength: UNPACKED_BYTES_MAX });
  if (bytes.readUInt8(0) !== FORM) throw new Error("a staged content has an unknown form");
  const textsEnd = HEAD_BYTES + bytes.readUInt32LE(4);
  const count = bytes.readUInt32LE(8);
  const texts = (await parseOwnJsonInTurns(bytes.subarray(HEAD_BYTES, textsEnd))) as Omit<Content, "points">;
  let at = textsEnd;
  const take = (size: number): ArrayBuffer => {
    // A copy, because columns must begin at multiples of their size.
    const column = new Uint8Array(bytes.subarray(at, at + count * size)).buffer;
    at += count * size;
    return column;
  };
  const steps = new Float64Array(take(8));
  const values = new Float64Array(take(8));
  const timesUs = new Float64Array(take(8));
  const sources = new Uint32Array(take(4));
  const keys = new Uint32Array(take(4));
  return { ...texts, points: { steps, values, timesUs, sources, keys } };
}
