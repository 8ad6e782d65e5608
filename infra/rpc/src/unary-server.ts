import type { IncomingMessage, ServerResponse } from "node:http";
import { AppError, isAppError } from "@tidemark/errors";
import type { Turn, Turns } from "@tidemark/work";
import { callFromHeaders, refusedHeader, type Call, isPeer, notAPeer } from "./call.ts";
import { errorToJson } from "./error-wire.ts";
import { readEnvelopes, envelopeHeader, STREAM_TYPE } from "./envelopes.ts";
import { observed, streamed, withinDeadline, type CallObserver } from "./invoke.ts";
import { decodeMessage, encodeMessage } from "./messages.ts";
import { answerOf, methodsOf, streamOf, type Implementation, type Method } from "./service.ts";
import type { DescMessage } from "@bufbuild/protobuf";
import { once } from "node:events";

const REQUEST_BYTES_MAX = 128 * 1024 * 1024;

type Route = { method: Method; service: string; handler: Implementation["handlers"][string] };

/** Answers Connect requests over HTTP/1.1, with one message or with a stream of them. */
export type UnaryServer = {
  /** Takes a request for an RPC; returns false for any other, which it leaves alone. */
  handle(request: IncomingMessage, response: ServerResponse): boolean;
  /** Refuses every new request from now on, in a way that makes the peer send it elsewhere. */
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

/**
 * Begins the turn of the organization that a call is for; calls without an organization have no turn. Each service is a lane of its own: a call that waits
 * may be one that another service of this process waits for.
 */
async function turnOf(
  turns: Turns,
  service: string,
  { identity, deadlineMs }: Call,
  response: ServerResponse,
): Promise<Turn | undefined> {
  if (identity === undefined) return undefined;
  const begun = turns.begin(identity.orgId, service, deadlineMs);
  if ("end" in begun) return begun;
  response.once("close", begun.withdraw);
  return begun.turn;
}

async function* oneChunk(bytes: Uint8Array): AsyncGenerator<Uint8Array, void, undefined> {
  yield bytes;
}

/**
 * Builds the HTTP/1.1 side of a process: Connect's protocol for every service. Where a token is configured, a caller without it is refused
 * before any of the body is read, and loses the connection.
 * @throws Error when a handler is missing
 */
export function createUnaryServer(
  implementations: readonly Implementation[],
  options: {
    observer?: CallObserver;
    onUnknownError?: (error: unknown) => void;
    token?: string | undefined;
    /** The turns of this process; without them calls are served as they arrive. */
    turns?: Turns;
  } = {},
): UnaryServer {
  const routes = new Map<string, Route>();
  for (const { service, handlers } of implementations) {
    for (const [name, method] of methodsOf(service)) {
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
    const left = new AbortController();
    response.once("close", () => {
      if (!response.writableFinished) left.abort();
    });
    let turn: Turn | undefined;
    try {
      const body = await readBody(request);
      const call = callFromHeaders((name) => request.headers[name] as string | undefined, { left: left.signal });
      if (options.turns !== undefined) turn = await turnOf(options.turns, route.service, call, response);
      const facts = { service: route.service, method: route.method.name, side: "server" as const };
      const output = await observed(options.observer, facts, () =>
        withinDeadline(call, async () => answerOf(route.handler, await decodeMessage(route.method.input, body), call)),
      );
      answer(response, 200, "application/proto", await encodeMessage(route.method.output, output));
    } catch (error) {
      if (!isAppError(error)) options.onUnknownError?.(error);
      // Our own clients read the body, not the status; any status but 200 marks an error.
      answer(response, 500, "application/json", JSON.stringify(errorToJson(error)));
    } finally {
      turn?.end();
    }
  };

  const serveStream = async (route: Route, request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const messageOf = async (): Promise<Uint8Array> => {
      const body = await readBody(request);
      for await (const { bytes } of readEnvelopes(oneChunk(body))) return bytes;
      throw new AppError("bad_request", "the request has no message");
    };
    const facts = { service: route.service, method: route.method.name, side: "server" as const };
    const opened = async function* (): AsyncGenerator<object, void, undefined> {
      const message = await messageOf();
      const call = callFromHeaders((name) => request.headers[name] as string | undefined, {
        isStream: true,
      });
      const input = await decodeMessage(route.method.input, message);
      yield* streamed(call, options.observer, facts, () => streamOf(route.handler, input, call));
    };
    await sendStream(response, route.method.output, opened, options.onUnknownError);
  };

  return {
    handle(request, response) {
      const route = routes.get(request.url ?? "");
      if (route === undefined || request.method !== "POST") return false;
      if (!isPeer(request.headers, options.token)) {
        // With the connection open, Node would read the rest of the body to find the next request.
        response.setHeader("connection", "close");
        answer(response, 401, "application/json", JSON.stringify(errorToJson(notAPeer())));
        return true;
      }
      if (refusing) {
        request.resume();
        response.setHeader("connection", "close");
        response.setHeader(refusedHeader, "1");
        answer(response, 503, "application/json", JSON.stringify({ code: "unavailable", message: "shutting down" }));
        return true;
      }
      void (route.method.methodKind === "unary" ? serve : serveStream)(route, request, response);
      return true;
    },
    refuse() {
      refusing = true;
    },
  };
}

/**
 * Sends the messages of a stream, each when the connection has room for it, and how it ended. Ends the stream when the peer has left.
 * `opened` may throw: then only the error is sent.
 */
async function sendStream(
  response: ServerResponse,
  output: DescMessage,
  opened: () => AsyncGenerator<object, void, undefined>,
  onUnknownError: ((error: unknown) => void) | undefined,
): Promise<void> {
  let messages: AsyncGenerator<object, void, undefined> | undefined;
  const closed = new AbortController();
  response.once("close", () => {
    closed.abort();
    // The client is gone, and with it the reader of an error.
    void messages?.return().catch(() => {});
  });
  response.writeHead(200, { "content-type": STREAM_TYPE });
  let end: object = {};
  try {
    messages = opened();
    for await (const message of messages) {
      const bytes = await encodeMessage(output, message);
      response.write(envelopeHeader(bytes.length, false));
      if (!response.write(bytes)) await once(response, "drain", { signal: closed.signal });
      if (closed.signal.aborted) return;
    }
  } catch (error) {
    if (closed.signal.aborted) return;
    if (!isAppError(error)) onUnknownError?.(error);
    end = { error: errorToJson(error) };
  }
  if (closed.signal.aborted) return;
  const bytes = Buffer.from(JSON.stringify(end));
  response.write(envelopeHeader(bytes.length, true));
  response.end(bytes);
}
