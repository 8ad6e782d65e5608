import type { IncomingMessage } from "node:http";
import { Socket } from "node:net";

/** How long a connection is read after its last answer, while the client may still be sending. */
export type LingerBounds = {
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
export function isLingering(socket: Socket): boolean {
  return lingering.has(socket);
}

/**
 * Ends a connection after what was written to it, and reads on until the client has ended it too: closing a connection with unread bytes resets it, and the
 * client loses the answer (RFC 9112, Tear-down). At its bounds the connection is closed regardless of the client.
 */
export function lingerClose(
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
