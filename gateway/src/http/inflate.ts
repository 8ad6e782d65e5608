import { gunzip, gunzipSync } from "node:zlib";
import { badRequest } from "@tidemark/errors";
import { bodyTooLarge, type BodyRead } from "./body-limit.ts";

/** Up to here decompressing on the spot is cheaper than going through the thread pool and back. */
const INLINE_BYTES_MAX = 16 * 1024;

/**
 * Decompresses a gzip body and stops as soon as it exceeds `bytesMax`, so that a small body cannot
 * take much memory. Errors: `bad_request` when it is no gzip or is cut off, `payload_too_large`.
 */
export function inflate(compressed: Buffer, bytesMax: number, read: BodyRead): void {
  // The limit of zlib is on whole output: 0 is not accepted, and equal is still allowed.
  const options = { maxOutputLength: Math.max(1, bytesMax) };
  if (compressed.length > INLINE_BYTES_MAX) {
    gunzip(compressed, options, (error, body) => {
      if (error === null) read(null, body);
      else read(refusal(error, bytesMax));
    });
    return;
  }
  let body: Buffer;
  try {
    body = gunzipSync(compressed, options);
  } catch (error) {
    read(refusal(error, bytesMax));
    return;
  }
  read(null, body);
}

function refusal(error: unknown, bytesMax: number): Error {
  const tooLarge = (error as { code?: unknown }).code === "ERR_BUFFER_TOO_LARGE";
  return tooLarge ? bodyTooLarge(bytesMax) : badRequest("the body is not valid gzip");
}
