import { createGunzip } from "node:zlib";
import { pipeline } from "node:stream/promises";
import type { IncomingMessage } from "node:http";
import { LINE_BYTES_MAX } from "@tidemark/archive";
import { AppError, badRequest, isAppError } from "@tidemark/errors";
import { RESTORE_LIMITS } from "@tidemark/limits";
import { arriving } from "../../gate/arrival.ts";
import { encodingOf } from "../../gate/read-body.ts";

/** Whole lines of a body. */
export type BodyPiece = { readonly data: Uint8Array; readonly isLast: boolean };

const LINE_FEED = 0x0a;

/**
 * Cuts a body into pieces that end at the first line end from a mebibyte on, however its bytes arrive, and so always in the same way. The last piece has
 * the rest, which may end within a line; there is at least one piece.
 * @throws archive_invalid for a line that is too long
 */
export async function* piecesOfLines(
  chunks: AsyncIterable<Uint8Array>,
  hold: (bytes: number) => void,
): AsyncGenerator<BodyPiece, void, undefined> {
  let waiting: Uint8Array[] = [];
  let [waitingBytes, held] = [0, 0];
  let ready: Uint8Array | undefined;
  const keep = (bytes: Uint8Array): void => {
    waiting.push(bytes);
    waitingBytes += bytes.length;
    if (waitingBytes > RESTORE_LIMITS.pieceBytesMin + LINE_BYTES_MAX) {
      throw new AppError("archive_invalid", `a line is longer than ${LINE_BYTES_MAX} bytes`);
    }
    if (waitingBytes <= held) return;
    hold(waitingBytes - held);
    held = waitingBytes;
  };
  const take = (): Uint8Array => {
    const piece = waiting.length === 1 ? waiting[0]! : Buffer.concat(waiting);
    waiting = [];
    waitingBytes = 0;
    return piece;
  };
  for await (const chunk of chunks) {
    for (let from = 0; from < chunk.length;) {
      // A piece is the last one unless another piece follows it.
      if (ready !== undefined) yield { data: ready, isLast: false };
      ready = undefined;
      const left = RESTORE_LIMITS.pieceBytesMin - waitingBytes;
      const end = chunk.indexOf(LINE_FEED, Math.max(from, from + left - 1));
      const to = end < 0 ? chunk.length : end + 1;
      keep(chunk.subarray(from, to));
      if (end >= 0) ready = take();
      from = to;
    }
  }
  yield { data: ready ?? take(), isLast: true };
}

/**
 * Reads a body as it arrives, decompressed.
 * @throws bad_request when it ends early, is not gzip, or becomes more than `RESTORE_LIMITS.expansionMax` times its size
 */
export async function* decoded(request: IncomingMessage): AsyncGenerator<Uint8Array, void, undefined> {
  if (encodingOf(request.headers) === "none") {
    yield* arriving(request);
    return;
  }
  const gunzip = createGunzip();
  const feeding = pipeline(arriving(request), gunzip).catch(() => {});
  try {
    let bytes = 0;
    for await (const chunk of gunzip as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      requireExpansion(gunzip.bytesWritten, bytes);
      yield chunk;
    }
  } catch (error) {
    throw isAppError(error) ? error : badRequest("the body is not valid gzip, or ends early");
  } finally {
    gunzip.destroy();
    await feeding;
  }
}

/** Refuses a body that decompresses to much more than its size, because the server would do work for bytes that no client sent. @throws bad_request */
export function requireExpansion(compressedBytes: number, bytes: number): void {
  const { expansionMax, expansionFreeBytes } = RESTORE_LIMITS;
  if (bytes <= expansionFreeBytes + expansionMax * compressedBytes) return;
  throw badRequest(`the body becomes more than ${expansionMax} times its size when it is decompressed; send it plain`);
}
