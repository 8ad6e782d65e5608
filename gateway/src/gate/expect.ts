import type { IncomingMessage, Server, ServerResponse } from "node:http";

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
