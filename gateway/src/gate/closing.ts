import { STATUS_CODES, type IncomingMessage } from "node:http";
import { Socket } from "node:net";
import { randomUUID } from "node:crypto";
import type { ErrorAnswer } from "../errors.ts";
import { headerNames, noSniffing } from "../http/headers.ts";

const refusals: Readonly<Record<string, readonly [status: number, text: string]>> = {
  HPE_HEADER_OVERFLOW: [431, "the request headers are too large"],
  ERR_HTTP_REQUEST_TIMEOUT: [408, "the request took too long to arrive"],
};

/** Connections whose request may take longer than the server gives to requests, because its pace is watched. */
const watched = new WeakSet<Socket>();

/** Exempts the request that arrives on a connection from the time that the server gives to requests. The caller watches its pace. */
export function beginWatch(socket: Socket): void {
  watched.add(socket);
}

/** Ends the exemption. */
export function endWatch(socket: Socket): void {
  watched.delete(socket);
}

/**
 * Answers bytes that are not an HTTP request, and requests that arrive too slowly, in the shape of every other error,
 * and closes the connection. Requests whose pace is watched may take longer. Writes nothing into an answer that has already begun.
 */
export function answerClientError(error: { readonly code?: string }, socket: Socket): void {
  if (error.code === "ERR_HTTP_REQUEST_TIMEOUT" && watched.has(socket)) return;
  if (error.code === "ECONNRESET") {
    socket.destroy();
    return;
  }
  const [status, text] = refusals[error.code ?? ""] ?? [400, "the request is not valid HTTP"];
  answerAndClose(socket, { status, body: { error: text } });
}

/** Answers a request that is still arriving, unless an answer has begun, and closes the connection. */
export function answerAndClose(socket: Socket, { status, body }: Pick<ErrorAnswer, "status" | "body">): void {
  if (isLingering(socket)) return;
  const answering = (socket as { _httpMessage?: { headersSent: boolean } | null })._httpMessage;
  if (!socket.writable || answering?.headersSent === true) {
    socket.destroy();
    return;
  }
  const text = JSON.stringify(body);
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    "content-type: application/json; charset=utf-8",
    `content-length: ${Buffer.byteLength(text)}`,
    `${headerNames.requestId}: ${randomUUID()}`,
    noSniffing.join(": "),
    "connection: close",
  ];
  socket.write(`${head.join("\r\n")}\r\n\r\n${text}`);
  lingerClose(socket, undefined);
}

/** How long a connection is read after its last answer, while the client may still be sending. */
type LingerBounds = {
  /** Bytes that are read and dropped. */
  readonly bytesMax: number;
  readonly ms: number;
};

/** Bytes that a client with credentials may still send, and one without. */
export const LINGER_BYTES_MAX = { known: 16 * 1024 * 1024, unknown: 1024 * 1024 };

const LINGER_MS = 5000;

/** Connections that may linger simultaneously; others are closed immediately. */
const LINGERING_MAX = 256;

/** Milliseconds between two checks of how much has been dropped. */
const LOOK_MS = 10;

const lingering = new WeakSet<Socket>();

let lingeringCount = 0;

/** Returns whether the last answer of a connection was sent and any further bytes are dropped. */
function isLingering(socket: Socket): boolean {
  return lingering.has(socket);
}

/**
 * Ends a connection after what was written to it, and reads on until the client has ended it too: closing a connection with unread bytes resets it, and the
 * client loses the answer (RFC 9112, Tear-down). At its bounds the connection is closed regardless of the client.
 */
function lingerClose(
  socket: Socket,
  request: IncomingMessage | undefined,
  { bytesMax, ms }: LingerBounds = { bytesMax: LINGER_BYTES_MAX.unknown, ms: LINGER_MS },
): void {
  if (lingering.has(socket) || socket.destroyed) return;
  if (lingeringCount >= LINGERING_MAX) {
    Socket.prototype.destroySoon.call(socket);
    return;
  }
  lingering.add(socket);
  lingeringCount += 1;
  const endMs = performance.now() + ms;
  const bytesEnd = socket.bytesRead + bytesMax;
  const timer = setInterval(() => {
    if (performance.now() >= endMs || socket.bytesRead > bytesEnd) socket.destroy();
  }, LOOK_MS).unref();
  socket.once("close", () => {
    clearInterval(timer);
    lingeringCount -= 1;
  });
  const close = (): void => Socket.prototype.destroySoon.call(socket);
  socket.once("end", close);
  socket.end();
  if (request === undefined) socket.resume();
  // Without a listener, an error of the connection would now end the process.
  else
    request
      .on("error", () => undefined)
      .once("end", close)
      .resume();
}

/** Makes a connection that ends with the answer to this request linger if the body has not arrived as a whole by then. */
export function lingerAtEnd(request: IncomingMessage, bytesMax: number): void {
  const { socket } = request;
  // Node calls this after the last answer of a connection.
  socket.destroySoon = () => {
    if (request.complete) Socket.prototype.destroySoon.call(socket);
    else lingerClose(socket, request, { bytesMax, ms: LINGER_MS });
  };
}
