import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import type { GenService, GenServiceMethods } from "@bufbuild/protobuf/codegenv2";
import { MethodOptions_IdempotencyLevel } from "@bufbuild/protobuf/wkt";
import { Pool } from "undici";
import { isAppError } from "@tidemark/errors";
import { callToHeaders, observed, refusedHeader, withinDeadline, type Call, type CallObserver } from "./call.ts";
import { deadlineExceeded, errorFromJson, peerUnavailable } from "./error-wire.ts";
import { unaryMethods, type Client, type Implementation } from "./service.ts";

/**
 * Creates a client of a service in this process. It calls the handler with the message itself and
 * encodes nothing. Errors arrive as the handler threw them, as they do over the network.
 */
export function createLocalClient<S extends GenServiceMethods>(
  service: GenService<S>,
  implementation: Implementation,
  observer?: CallObserver,
): Client<S> {
  const client: Record<string, unknown> = {};
  for (const [name, method] of unaryMethods(implementation.service)) {
    const handler = implementation.handlers[name];
    if (handler === undefined) throw new Error(`${service.typeName} has no handler for ${name}`);
    const facts = { service: service.typeName, method: method.name, side: "server" as const };
    client[name] = (request: object, call: Parameters<typeof handler>[1]) =>
      observed(observer, facts, () =>
        withinDeadline(call, async () =>
          create(method.output, (await handler(create(method.input, request as never) as never, call)) as never),
        ),
      );
  }
  return client as Client<S>;
}

/** Connections to one peer, shared by the clients of all its services. */
export type Peer = {
  client<S extends GenServiceMethods>(service: GenService<S>): Client<S>;
  close(): Promise<void>;
};

const ATTEMPTS_MAX = 40;
const BACKOFF_MS = 50;
const ANSWER_BYTES_MAX = 256 * 1024 * 1024;

type Outcome = { bytes: Uint8Array } | { refused: true; cause: unknown };

/** Whether the error happened before the peer can have started with the request. */
function neverSent(error: unknown): boolean {
  const code = (error as { code?: unknown }).code;
  return code === "ECONNREFUSED" || code === "ENOTFOUND" || code === "EAI_AGAIN" || code === "UND_ERR_CONNECT_TIMEOUT";
}

/**
 * Opens a pool of HTTP/1.1 connections to a peer and speaks Connect's unary protocol over them.
 * A request is repeated only if it cannot have had an effect: the peer refused it before any handler
 * saw it, no connection was made, or the method is declared free of side effects. Every other failure
 * is `service_unavailable`, and the caller decides whether to repeat.
 */
export function connectPeer(
  baseUrl: string,
  options: { connectionsMax?: number; observer?: CallObserver; token?: string | undefined } = {},
): Peer {
  const pool = new Pool(baseUrl, {
    connections: options.connectionsMax ?? 32,
    pipelining: 1,
    keepAliveTimeout: 30_000,
    connectTimeout: 1000,
    headersTimeout: 0,
    bodyTimeout: 0,
    maxResponseSize: ANSWER_BYTES_MAX,
  });

  const attempt = async (path: string, body: Uint8Array, call: Call, repeatable: boolean): Promise<Outcome> => {
    try {
      const response = await pool.request({
        method: "POST",
        path,
        body,
        headers: {
          "content-type": "application/proto",
          "connect-protocol-version": "1",
          ...callToHeaders(call, options.token),
        },
        signal: AbortSignal.timeout(Math.max(1, Math.ceil(call.deadlineMs - Date.now()))),
      });
      if (response.statusCode === 200) return { bytes: await response.body.bytes() };
      const text = await response.body.text();
      if (response.headers[refusedHeader] !== undefined) return { refused: true, cause: new Error(text) };
      throw errorFromJson(text);
    } catch (error) {
      if (isAppError(error)) throw error;
      if ((error as { name?: unknown }).name === "TimeoutError") throw deadlineExceeded();
      if (repeatable || neverSent(error)) return { refused: true, cause: error };
      throw peerUnavailable(error);
    }
  };

  const send = async (path: string, body: Uint8Array, call: Call, repeatable: boolean): Promise<Uint8Array> => {
    let cause: unknown;
    for (let attempts = 1; attempts <= ATTEMPTS_MAX; attempts += 1) {
      const outcome = await attempt(path, body, call, repeatable);
      if ("bytes" in outcome) return outcome.bytes;
      cause = outcome.cause;
      const pause = BACKOFF_MS * (0.5 + Math.random());
      if (Date.now() + pause >= call.deadlineMs) break;
      await new Promise((resolve) => setTimeout(resolve, pause));
    }
    throw peerUnavailable(cause);
  };

  return {
    client<S extends GenServiceMethods>(service: GenService<S>): Client<S> {
      const client: Record<string, unknown> = {};
      for (const [name, method] of unaryMethods(service)) {
        const path = `/${service.typeName}/${method.name}`;
        const repeatable = method.idempotency === MethodOptions_IdempotencyLevel.NO_SIDE_EFFECTS;
        const facts = { service: service.typeName, method: method.name, side: "client" as const };
        client[name] = (request: object, call: Call) =>
          observed(options.observer, facts, async () => {
            const body = toBinary(method.input, create(method.input, request as never));
            return fromBinary(method.output, await send(path, body, call, repeatable));
          });
      }
      return client as Client<S>;
    },
    close: () => pool.close(),
  };
}
