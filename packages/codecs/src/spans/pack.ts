import { constants, deflateRawSync, inflateRawSync, zstdCompressSync, zstdDecompressSync } from "node:zlib";
import { codecError } from "../bytes.ts";

/** The first byte of packed bytes. */
const PLAIN = 0;
const DEFLATE = 1;
const ZSTD = 2;

/** Below this size deflate takes half the time of zstd for the same result, because a zstd context has to be made first. */
const ZSTD_FROM = 16 * 1024;
/** Shorter bytes hardly get shorter. */
const COMPRESS_FROM = 192;
const ZSTD_LEVEL = 3;
const DEFLATE_LEVEL = 1;
/** The most that one packed value may hold; what a damaged one claims must not fill the memory. */
const UNPACKED_BYTES_MAX = 64 * 1024 * 1024;

/** Returns the bytes compressed where that makes them an eighth shorter, with a byte in front that says how. */
export function pack(bytes: Uint8Array): Uint8Array {
  if (bytes.length >= COMPRESS_FROM) {
    const isLong = bytes.length >= ZSTD_FROM;
    const packed = isLong
      ? zstdCompressSync(bytes, { params: { [constants.ZSTD_c_compressionLevel]: ZSTD_LEVEL } })
      : deflateRawSync(bytes, { level: DEFLATE_LEVEL });
    if (packed.length < bytes.length * 0.875) return tagged(isLong ? ZSTD : DEFLATE, packed);
  }
  return tagged(PLAIN, bytes);
}

/** Returns the bytes that `pack` was given. @throws SpanCodecError */
export function unpack(packed: Uint8Array): Uint8Array {
  const bytes = packed.subarray(1);
  try {
    if (packed[0] === PLAIN) return bytes;
    if (packed[0] === DEFLATE) return inflateRawSync(bytes, { maxOutputLength: UNPACKED_BYTES_MAX });
    if (packed[0] === ZSTD) return zstdDecompressSync(bytes, { maxOutputLength: UNPACKED_BYTES_MAX });
  } catch (error) {
    throw codecError(`the bytes of a segment are damaged: ${(error as Error).message}`);
  }
  throw codecError("a segment is packed in an unknown way");
}

function tagged(tag: number, bytes: Uint8Array): Uint8Array {
  const packed = Buffer.allocUnsafe(bytes.length + 1);
  packed[0] = tag;
  packed.set(bytes, 1);
  return packed;
}
