import type { IncomingHttpHeaders } from "node:http";
import type { Readable } from "node:stream";
import { gunzip, gunzipSync } from "node:zlib";
import { AppError, badRequest } from "@tidemark/errors";
import type { BodyAccount } from "./body-memory.ts";

/** Bytes of a body unless its route says otherwise (API specification, Limits; the limit is on the decoded body). */
export const BODY_BYTES_MAX = 1_000_000;

/** Returns the refusal of a body, or of what `what` names, above its limit. */
export function bodyTooLarge(bytesMax: number, what = "the body"): AppError {
  return new AppError("payload_too_large", `${what} must have at most ${bytesMax} bytes`);
}

/** Returns how a body is encoded. @throws bad_request */
export function encodingOf(headers: IncomingHttpHeaders): "gzip" | "none" {
  const encoding = (headers["content-encoding"] ?? "").trim().toLowerCase();
  if (encoding === "gzip" || encoding === "x-gzip") return "gzip";
  if (encoding === "" || encoding === "identity") return "none";
  throw badRequest("the content encoding must be gzip or none");
}

/**
 * Receives the decoded body or its refusal: `bad_request`, `payload_too_large` or `service_unavailable`. The bytes hold until it returns: the next
 * body may be put in their place.
 */
export type BodyRead = (error: Error | null, body?: Buffer) => void;

/** Bytes that gzip may add to a body that does not compress. */
const GZIP_OVERHEAD_BYTES = 1024;

/**
 * Reads a body of at most `bytesMax` decoded bytes, plain or gzip. A larger one is refused as
 * soon as its size is certain; the rest of it is read and thrown away, because closing the
 * connection would lose the answer. Bytes are charged to `account`, whose refusal is passed on in the same way.
 */
export function readBody(
  stream: Readable,
  headers: IncomingHttpHeaders,
  bytesMax: number,
  account: BodyAccount | undefined,
  read: BodyRead,
): void {
  let gzip: boolean;
  try {
    gzip = encodingOf(headers) === "gzip";
  } catch (refused) {
    stream.resume();
    read(refused as Error);
    return;
  }
  const wireBytesMax = gzip ? bytesMax + GZIP_OVERHEAD_BYTES : bytesMax;
  const decoded: BodyRead = (error, body) => {
    const refusal = error ?? charge(account, body?.length ?? 0);
    if (refusal === null) read(null, body);
    else read(refusal);
  };
  collect(stream, Number(headers["content-length"] ?? 0), wireBytesMax, account, (collected) => {
    if (collected === "too large") read(bodyTooLarge(bytesMax));
    else if (collected instanceof Error) read(collected);
    else if (gzip && collected.length > 0)
      inflate(Buffer.concat(collected.chunks, collected.length), bytesMax, decoded);
    else read(null, joined(collected));
  });
}

/** Charges bytes to the account. Returns its refusal, or null. */
function charge(account: BodyAccount | undefined, bytes: number): Error | null {
  try {
    account?.take(bytes);
    return null;
  } catch (refusal) {
    return refusal as Error;
  }
}

type Chunks = { readonly chunks: readonly Buffer[]; readonly length: number };
type Collected = Chunks | "too large" | Error;

/** Up to this size bodies are joined in one place. */
const JOINED_BYTES_MAX = 4 * 1024 * 1024;
let joint = Buffer.alloc(0);

/**
 * Returns the chunks as one piece, which holds until the next call. A body beyond 64 KB arrives in several chunks. A new piece for each would have its
 * pages cleared by the system, and V8 collects garbage the sooner the more memory there is outside of its heap.
 */
function joined({ chunks, length }: Chunks): Buffer {
  const [first] = chunks;
  if (chunks.length === 1 && first !== undefined) return first;
  if (length > JOINED_BYTES_MAX) return Buffer.concat(chunks, length);
  if (length > joint.length)
    joint = Buffer.allocUnsafeSlow(Math.min(JOINED_BYTES_MAX, Math.max(length, 2 * joint.length)));
  let at = 0;
  for (const chunk of chunks) at += chunk.copy(joint, at);
  return joint.subarray(0, length);
}

function collect(
  stream: Readable,
  announced: number,
  bytesMax: number,
  account: BodyAccount | undefined,
  end: (collected: Collected) => void,
): void {
  if (announced > bytesMax) {
    stream.resume();
    end("too large");
    return;
  }
  const chunks: Buffer[] = [];
  let length = 0;
  const stop = (): void => {
    stream.off("data", onData).off("end", onEnd).off("error", onError);
  };
  const onData = (chunk: Buffer): void => {
    length += chunk.length;
    const refusal = charge(account, chunk.length);
    if (length <= bytesMax && refusal === null) {
      chunks.push(chunk);
      return;
    }
    stop();
    // Without a listener, an error of the connection would now end the process.
    stream.on("error", () => undefined).resume();
    end(refusal ?? "too large");
  };
  const onEnd = (): void => {
    stop();
    end({ chunks, length });
  };
  const onError = (): void => {
    stop();
    end(badRequest("the body ended early"));
  };
  stream.on("data", onData).on("end", onEnd).on("error", onError);
}

/** Up to this size decompressing here is cheaper than a trip through the thread pool. */
const INLINE_BYTES_MAX = 16 * 1024;

/**
 * Decompresses a gzip body and stops as soon as it exceeds `bytesMax`, so that a small body cannot
 * take much memory. Errors: `bad_request` when it is not gzip or is cut off, `payload_too_large`.
 */
function inflate(compressed: Buffer, bytesMax: number, read: BodyRead): void {
  // The limit of zlib is inclusive and must be at least 1.
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
