import type { IncomingMessage, Server } from "node:http";
import type { Socket } from "node:net";
import { answerAndClose } from "./closing.ts";

/** Chunks of a body as they arrived, at a cost proportional to their bytes. */
type BodyPieces = {
  /** Adds a chunk. */
  readonly add: (chunk: Buffer) => void;
  /** Returns all chunks in as few pieces as possible; afterwards none can be added. */
  readonly take: () => readonly Buffer[];
};

/** Chunks from this size on are kept unchanged; smaller ones are copied together, because each costs some 700 bytes by itself. */
export const KEPT_BYTES_MIN = 4096;
const GATHERED_BYTES_MIN = 4096;
const GATHERED_BYTES_MAX = 64 * 1024;

/** Collects the chunks of one body. */
export function createBodyPieces(): BodyPieces {
  const pieces: Buffer[] = [];
  let only: Buffer | undefined;
  let gathered: Buffer | undefined;
  let used = 0;

  const closeGathered = (): void => {
    if (gathered !== undefined && used > 0) pieces.push(gathered.subarray(0, used));
    gathered = undefined;
    used = 0;
  };

  const gather = (chunk: Buffer): void => {
    if (gathered !== undefined && used + chunk.length > gathered.length) {
      if (gathered.length >= GATHERED_BYTES_MAX) closeGathered();
      else {
        const larger = Buffer.allocUnsafeSlow(2 * gathered.length);
        gathered.copy(larger, 0, 0, used);
        gathered = larger;
      }
    }
    gathered ??= Buffer.allocUnsafeSlow(GATHERED_BYTES_MIN);
    used += chunk.copy(gathered, used);
  };

  const addNext = (chunk: Buffer): void => {
    if (chunk.length < KEPT_BYTES_MIN) {
      gather(chunk);
      return;
    }
    closeGathered();
    pieces.push(chunk);
  };

  return {
    add(chunk) {
      // Most bodies are one chunk, which need not be copied, regardless of its size.
      if (only === undefined && pieces.length === 0 && gathered === undefined) {
        only = chunk;
        return;
      }
      if (only !== undefined) {
        addNext(only);
        only = undefined;
      }
      addNext(chunk);
    },
    take() {
      if (only !== undefined) return [only];
      closeGathered();
      return pieces;
    },
  };
}

/** A body may have this many chunks of any size (RFC 9112, chunked transfer coding). */
const CHUNKS_FREE = 8192;
/** Bytes that chunks beyond that number must have on average. */
const CHUNK_BYTES_MIN = 16;

/** Small chunks, or their bytes, after which nothing more is read until the event loop has completed a round. */
const WAITING_MAX = { chunks: 1024, bytes: 64 * 1024 };

/**
 * Joins the small chunks of every body that arrives in chunks before they are read. Node copies each chunk and calls us for each: a mebibyte in
 * chunks of one byte would take 280 MiB and hold the event loop for as long as the socket has bytes. A body of too many chunks for its bytes gets a 400.
 */
export function joinSmallChunks(server: Server): void {
  server.prependListener("request", (request) => {
    if (request.headers["transfer-encoding"] !== undefined) joinChunksOf(request);
  });
}

/** Answers, and drops further bytes before Node's parser, which does the costly work for chunks, reads them. */
function refuse(socket: Socket): void {
  if (socket.destroyed) return;
  // A listener makes Node detach its parser from the socket.
  socket.removeAllListeners("data").on("data", () => undefined);
  const body = { error: "the body arrives in too many small chunks", code: "bad_request" };
  answerAndClose(socket, { status: 400, body });
}

function joinChunksOf(request: IncomingMessage): void {
  const push = request.push.bind(request);
  let waiting = createBodyPieces();
  let [waitingChunks, waitingBytes] = [0, 0];
  let [chunks, bytes] = [0, 0];
  let isCut = false;
  let isStopped = false;

  const passOn = (): void => {
    if (waitingChunks === 0) return;
    const pieces = waiting.take();
    waiting = createBodyPieces();
    [waitingChunks, waitingBytes] = [0, 0];
    isStopped = false;
    for (const piece of pieces) push(piece);
  };

  // Node's parser calls it with each chunk, and stops reading the socket where it returns false; passing bytes on makes it read again.
  request.push = (chunk: Buffer | null): boolean => {
    if (isCut) return true;
    if (chunk === null) {
      passOn();
      return push(null);
    }
    chunks += 1;
    bytes += chunk.length;
    if (chunks > CHUNKS_FREE && bytes < chunks * CHUNK_BYTES_MIN) {
      isCut = true;
      setImmediate(refuse, request.socket);
      return false;
    }
    if (chunk.length >= KEPT_BYTES_MIN && waitingChunks === 0) return push(chunk);
    if (waitingChunks === 0) setImmediate(passOn);
    waiting.add(chunk);
    waitingChunks += 1;
    waitingBytes += chunk.length;
    // Once: it costs Node more than the chunk.
    if (isStopped || (waitingChunks < WAITING_MAX.chunks && waitingBytes < WAITING_MAX.bytes)) return true;
    isStopped = true;
    return false;
  };
}
