import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { badRequest } from "@tidemark/errors";
import { answerClientError, beginWatch, endWatch } from "./closing.ts";
import { createBodyPieces, KEPT_BYTES_MIN } from "./chunks.ts";

/** The slowest allowed pace of a body that is handled while it arrives. */
export type ArrivalPace = {
  /** Milliseconds of waiting for the client after which the pace is checked. */
  readonly windowMs: number;
  /** Bytes that must have arrived by then. */
  readonly bytesMin: number;
};

/** The least pace of a client while we hold something for it that keeps others waiting: a charged body, or an answer. */
export const LEAST_BYTES_PER_SECOND = 4 * 1024;

/** 1 KiB a second, over half a minute: a slow line may take its time, a client that stalls may not. */
const usualPace: ArrivalPace = { windowMs: 30_000, bytesMin: 30 * 1024 };

/**
 * Reads a body as it arrives, in pieces of at least 4 KiB except the last; the client waits while the reader is busy. Only the time that we wait for the
 * client counts against it: one that is too slow gets a 408, and its connection is closed. Leaving early leaves the connection unchanged.
 * @throws bad_request when the body ends early
 */
export async function* arriving(request: IncomingMessage, pace: ArrivalPace = usualPace): AsyncGenerator<Buffer> {
  const { socket } = request;
  askForBody(request);
  const chunks = request.iterator({ destroyOnReturn: false }) as AsyncIterator<Buffer>;
  let waitedMs = 0;
  let bytes = 0;
  let small = createBodyPieces();
  let smallBytes = 0;
  const cut = (): void => cutSlow(socket);
  beginWatch(socket);
  try {
    for (;;) {
      const startedMs = performance.now();
      const timer = setTimeout(cut, Math.max(1, pace.windowMs - waitedMs));
      const next = await chunks.next().finally(() => clearTimeout(timer));
      if (next.done === true) break;
      const { value } = next;
      waitedMs += performance.now() - startedMs;
      bytes += value.length;
      if (bytes >= pace.bytesMin) [waitedMs, bytes] = [0, 0];
      small.add(value);
      smallBytes += value.length;
      if (smallBytes < KEPT_BYTES_MIN) continue;
      const pieces = small.take();
      small = createBodyPieces();
      smallBytes = 0;
      yield* pieces;
    }
    yield* small.take();
  } catch {
    throw badRequest("the body ended early");
  } finally {
    endWatch(socket);
    await chunks.return?.();
  }
}

/** Cuts the connection of a request whose body arrives more slowly than the pace, with a 408. Returns a function that ends the watch. */
export function requirePace({ socket }: IncomingMessage, pace: ArrivalPace, receivedBytes: () => number): () => void {
  let before = 0;
  const timer = setInterval(() => {
    const received = receivedBytes();
    if (received - before < pace.bytesMin) {
      clearInterval(timer);
      cutSlow(socket);
    }
    before = received;
  }, pace.windowMs).unref();
  return () => clearInterval(timer);
}

function cutSlow(socket: Socket): void {
  endWatch(socket);
  answerClientError({ code: "ERR_HTTP_REQUEST_TIMEOUT" }, socket);
}

/** Milliseconds that the rest of a refused body may take on a connection that stays open. */
const LEFTOVER_MS = 30_000;

/** Reads and drops the rest of a refused body that was read while it arrives, so that the client can read the answer. */
export function dropRest(request: IncomingMessage): void {
  if (request.complete || request.destroyed) return;
  // Without a listener, an error of the connection would now end the process.
  request.on("error", () => undefined);
  // The server has stopped counting the time of a request that was watched.
  const timer = setTimeout(() => request.destroy(), LEFTOVER_MS).unref();
  request.once("close", () => clearTimeout(timer)).resume();
}

const waiting = new WeakMap<IncomingMessage, ServerResponse>();

/** Serves requests with `Expect: 100-continue` like others, but only `askForBody` lets their clients continue (RFC 9110, Expect). */
export function holdExpectations(server: Server): void {
  server.on("checkContinue", (request, response) => {
    waiting.set(request, response);
    server.emit("request", request, response);
  });
  // An expectation that we do not know may be ignored; Node's refusal would have no body.
  server.on("checkExpectation", (request, response) => void server.emit("request", request, response));
}

/** Asks a waiting client to send the body. The reader of a body calls it first. */
export function askForBody(request: IncomingMessage): void {
  waiting.get(request)?.writeContinue();
  waiting.delete(request);
}

/** Returns whether a client holds its body back. It may never send it, so that the connection has to end with the answer. */
export function holdsBodyBack(request: IncomingMessage): boolean {
  return waiting.has(request);
}
