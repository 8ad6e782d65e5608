import { randomUUID } from "node:crypto";
import { STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import type { ErrorAnswer } from "../errors.ts";
import { headerNames, noSniffing } from "./headers.ts";
import { isLingering, lingerClose } from "../gate/delayed-close.ts";

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
