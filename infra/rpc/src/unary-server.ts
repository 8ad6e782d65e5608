import { create, fromBinary, toBinary, type DescMethodUnary } from "@bufbuild/protobuf";
import type { IncomingMessage, ServerResponse } from "node:http";
import { AppError, isAppError } from "@tidemark/errors";
import { callFromHeaders, observed, refusedHeader, withinDeadline, type CallObserver } from "./call.ts";
import { errorToJson } from "./error-wire.ts";
import { unaryMethods, type Implementation } from "./service.ts";

const REQUEST_BYTES_MAX = 128 * 1024 * 1024;

type Route = { method: DescMethodUnary; service: string; handler: Implementation["handlers"][string] };

/** Answers Connect unary requests over HTTP/1.1. */
export type UnaryServer = {
  /** Returns true if the request is for an RPC, which it then answers. */
  handle(request: IncomingMessage, response: ServerResponse): boolean;
  /** Refuses every new request from now on, so that peers send it elsewhere. */
  refuse(): void;
};

async function readBody(request: IncomingMessage): Promise<Uint8Array> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > REQUEST_BYTES_MAX) throw new AppError("bad_request", "the message is too large");
    chunks.push(chunk);
  }
  return chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks);
}

/** Creates the HTTP/1.1 side of a process: Connect's unary protocol for every implemented service. */
export function createUnaryServer(
  implementations: readonly Implementation[],
  options: { observer?: CallObserver; onUnknownError?: (error: unknown) => void; token?: string | undefined } = {},
): UnaryServer {
  const routes = new Map<string, Route>();
  for (const { service, handlers } of implementations) {
    for (const [name, method] of unaryMethods(service)) {
      const handler = handlers[name];
      if (handler === undefined) throw new Error(`${service.typeName} has no handler for ${name}`);
      routes.set(`/${service.typeName}/${method.name}`, { method, service: service.typeName, handler });
    }
  }
  let refusing = false;

  const answer = (response: ServerResponse, status: number, type: string, body: Uint8Array | string): void => {
    response.writeHead(status, { "content-type": type, "content-length": Buffer.byteLength(body) });
    response.end(body);
  };

  const serve = async (route: Route, request: IncomingMessage, response: ServerResponse): Promise<void> => {
    try {
      const body = await readBody(request);
      const call = callFromHeaders((name) => request.headers[name] as string | undefined, { token: options.token });
      const facts = { service: route.service, method: route.method.name, side: "server" as const };
      const output = await observed(options.observer, facts, () =>
        withinDeadline(call, () => route.handler(fromBinary(route.method.input, body) as never, call)),
      );
      answer(
        response,
        200,
        "application/proto",
        toBinary(route.method.output, create(route.method.output, output as never)),
      );
    } catch (error) {
      if (!isAppError(error)) options.onUnknownError?.(error);
      // The clients of this package read the body, not the status: any status but 200 means an error.
      answer(response, 500, "application/json", JSON.stringify(errorToJson(error)));
    }
  };

  return {
    handle(request, response) {
      const route = routes.get(request.url ?? "");
      if (route === undefined || request.method !== "POST") return false;
      if (refusing) {
        request.resume();
        response.setHeader("connection", "close");
        response.setHeader(refusedHeader, "1");
        answer(response, 503, "application/json", JSON.stringify({ code: "unavailable", message: "shutting down" }));
        return true;
      }
      void serve(route, request, response);
      return true;
    },
    refuse() {
      refusing = true;
    },
  };
}
