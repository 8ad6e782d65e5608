import { randomUUID } from "node:crypto";
import type { Socket } from "node:net";
import { headerNames } from "./headers.ts";

const refusals: Readonly<Record<string, readonly [status: string, text: string]>> = {
  HPE_HEADER_OVERFLOW: ["431 Request Header Fields Too Large", "the request headers are too large"],
  ERR_HTTP_REQUEST_TIMEOUT: ["408 Request Timeout", "the request took too long to arrive"],
};

/**
 * Answers bytes that are not an HTTP request, and requests that arrive too slowly, in the shape of every other error,
 * and closes the connection. Writes nothing into an answer that has already begun.
 */
export function answerClientError(error: { readonly code?: string }, socket: Socket): void {
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
    "connection: close",
  ];
  socket.end(`${head.join("\r\n")}\r\n\r\n${body}`);
}
