import { randomUUID } from "node:crypto";
import type { Socket } from "node:net";
import { headerNames, noSniffing } from "./headers.ts";
import { isLingering, lingerClose } from "./linger.ts";

const refusals: Readonly<Record<string, readonly [status: string, text: string]>> = {
  HPE_HEADER_OVERFLOW: ["431 Request Header Fields Too Large", "the request headers are too large"],
  ERR_HTTP_REQUEST_TIMEOUT: ["408 Request Timeout", "the request took too long to arrive"],
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
  if (isLingering(socket) || (error.code === "ERR_HTTP_REQUEST_TIMEOUT" && watched.has(socket))) return;
  const answering = (socket as { _httpMessage?: { headersSent: boolean } | null })._httpMessage;
  if (error.code === "ECONNRESET" || !socket.writable || answering?.headersSent === true) {
    socket.destroy();
    return;
  }
  const [status, text] = refusals[error.code ?? ""] ?? ["400 Bad Request", "the request is not valid HTTP"];
  const body = JSON.stringify({ error: text });
  const head = [
    `HTTP/1.1 ${status}`,
    "content-type: application/json; charset=utf-8",
    `content-length: ${Buffer.byteLength(body)}`,
    `${headerNames.requestId}: ${randomUUID()}`,
    noSniffing.join(": "),
    "connection: close",
  ];
  socket.write(`${head.join("\r\n")}\r\n\r\n${body}`);
  lingerClose(socket, undefined);
}
