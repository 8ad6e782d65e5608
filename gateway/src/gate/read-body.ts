import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import { gunzip, gunzipSync } from "node:zlib";
import { AppError, badRequest } from "@tidemark/errors";
import { askForBody, LEAST_BYTES_PER_SECOND, requirePace, type ArrivalPace } from "./arrival.ts";
import type { BodyAccount } from "./body-memory.ts";
import { createBodyPieces } from "./chunks.ts";

/** Bytes of a body of a client without credentials, on any route. */
export const UNKNOWN_BODY_BYTES_MAX = 8 * 1024;

/** Bytes of a body unless its route says otherwise (API specification, Limits; the limit is on the decoded body). */
export const BODY_BYTES_MAX = 1_000_000;

/** Returns the refusal of a body, or of the part that `what` names, above its limit. */
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
 * Receives the decoded body or its refusal: `bad_request`, `payload_too_large` or `service_unavailable`. The bytes are valid until it returns: the next
 * body may be put in their place.
 */
export type BodyRead = (error: Error | null, body?: Buffer) => void;

/** Bytes that gzip may add to a body that does not compress. */
const GZIP_OVERHEAD_BYTES = 1024;

/** The bounds of reading a body. */
export type BodyBounds = {
  /** Most decoded bytes. */
  readonly bytesMax: number;
  /** The account that bytes are charged to; undefined for a body that is known to be small. */
  readonly account: BodyAccount | undefined;
  /** The slowest allowed pace of a charged body; by default that of `arriving`. */
  readonly pace?: ArrivalPace;
};

/** Charged bytes keep others waiting. */
const heldPace: ArrivalPace = { windowMs: 5000, bytesMin: 5 * LEAST_BYTES_PER_SECOND };

/**
 * Reads a body within its bounds, plain or gzip. A larger one is refused as soon as its size is certain; the rest of it is read and thrown away, because
 * closing the connection would lose the answer. Refusals of the account are passed on in the same way. A client that is slower than the pace gets
 * a 408, and its connection is closed.
 */
export function readBody(request: IncomingMessage, bounds: BodyBounds, read: BodyRead): void {
  const { bytesMax, account } = bounds;
  let gzip: boolean;
  try {
    gzip = encodingOf(request.headers) === "gzip";
  } catch (refused) {
    request.resume();
    read(refused as Error);
    return;
  }
  const wireBytesMax = gzip ? bytesMax + GZIP_OVERHEAD_BYTES : bytesMax;
  collect(request, wireBytesMax, bounds, (collected) => {
    if (collected === "too large") read(bodyTooLarge(bytesMax));
    else if (collected instanceof Error) read(collected);
    else if (gzip && collected.length > 0) inflate(joined(collected), { bytesMax, account }, read);
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

type Collected = { readonly pieces: readonly Buffer[]; readonly length: number };

/** Up to this size bodies are joined in one place. */
const JOINED_BYTES_MAX = 4 * 1024 * 1024;
let joint = Buffer.alloc(0);

/**
 * Returns the pieces as one, which is valid until the next call. A body beyond 64 KB arrives in several pieces. New memory for each would have its
 * pages cleared by the system, and V8 collects garbage the sooner the more memory there is outside of its heap.
 */
function joined({ pieces, length }: Collected): Buffer {
  const [first] = pieces;
  if (pieces.length === 1 && first !== undefined) return first;
  if (length > JOINED_BYTES_MAX) return Buffer.concat(pieces, length);
  if (length > joint.length)
    joint = Buffer.allocUnsafeSlow(Math.min(JOINED_BYTES_MAX, Math.max(length, 2 * joint.length)));
  let at = 0;
  for (const piece of pieces) at += piece.copy(joint, at);
  return joint.subarray(0, length);
}

function collect(
  request: IncomingMessage,
  wireBytesMax: number,
  { account, pace = heldPace }: BodyBounds,
  end: (collected: Collected | "too large" | Error) => void,
): void {
  if (Number(request.headers["content-length"] ?? 0) > wireBytesMax) {
    request.resume();
    end("too large");
    return;
  }
  askForBody(request);
  const pieces = createBodyPieces();
  let length = 0;
  const endPace = account === undefined ? undefined : requirePace(request, pace, () => length);
  const stop = (): void => {
    endPace?.();
    request.off("data", onData).off("end", onEnd).off("error", onError);
  };
  const onData = (chunk: Buffer): void => {
    length += chunk.length;
    const refusal = charge(account, chunk.length);
    if (length <= wireBytesMax && refusal === null) {
      pieces.add(chunk);
      return;
    }
    stop();
    // Without a listener, an error of the connection would now end the process.
    request.on("error", () => undefined).resume();
    end(refusal ?? "too large");
  };
  const onEnd = (): void => {
    stop();
    end({ pieces: pieces.take(), length });
  };
  const onError = (): void => {
    stop();
    end(badRequest("the body ended early"));
  };
  request.on("data", onData).on("end", onEnd).on("error", onError);
}

/** Up to this size decompressing here is cheaper than a trip through the thread pool. */
const INLINE_BYTES_MAX = 16 * 1024;

/**
 * Decompresses a gzip body and stops as soon as it exceeds the bound, so that a small body cannot take much memory. The decoded bytes are charged before
 * any of them exist. Errors: `bad_request` when it is not gzip or is cut off, `payload_too_large`, `service_unavailable`.
 */
function inflate(compressed: Buffer, { bytesMax, account }: BodyBounds, read: BodyRead): void {
  const promised = promisedBytes(compressed, bytesMax);
  const refusal = charge(account, promised);
  if (refusal !== null) {
    read(refusal);
    return;
  }
  decompress(compressed, promised, (error, body) => {
    const isLonger = error !== null && isTooLarge(error) && promised < bytesMax;
    if (body !== undefined) account?.giveBack(promised - body.length);
    if (!isLonger) {
      read(error === null ? null : refusalOf(error, bytesMax), body);
      return;
    }
    // Several members in a row: the last one states its own length only.
    const more = charge(account, bytesMax - promised);
    if (more !== null) read(more);
    else
      decompress(compressed, bytesMax, (fault, whole) => {
        if (whole !== undefined) account?.giveBack(bytesMax - whole.length);
        read(fault === null ? null : refusalOf(fault, bytesMax), whole);
      });
  });
}

/** Bytes at the end of a gzip member that state its decoded length (RFC 1952, ISIZE). */
const ISIZE_BYTES = 4;

/** Returns the decoded length that a gzip body states, between 1, the least that zlib takes as a limit, and the bound. */
function promisedBytes(compressed: Buffer, bytesMax: number): number {
  if (compressed.length < ISIZE_BYTES) return 1;
  return Math.min(bytesMax, Math.max(1, compressed.readUInt32LE(compressed.length - ISIZE_BYTES)));
}

function decompress(compressed: Buffer, bytesMax: number, read: BodyRead): void {
  // The limit of zlib is inclusive.
  const options = { maxOutputLength: Math.max(1, bytesMax) };
  if (compressed.length > INLINE_BYTES_MAX) {
    // The thread reads them later, when another body may be in their place.
    gunzip(Buffer.from(compressed), options, (error, body) => read(error, error === null ? body : undefined));
    return;
  }
  let body: Buffer;
  try {
    body = gunzipSync(compressed, options);
  } catch (error) {
    read(error as Error);
    return;
  }
  read(null, body);
}

function isTooLarge(error: unknown): boolean {
  return (error as { code?: unknown }).code === "ERR_BUFFER_TOO_LARGE";
}

function refusalOf(error: unknown, bytesMax: number): Error {
  return isTooLarge(error) ? bodyTooLarge(bytesMax) : badRequest("the body is not valid gzip");
}
