import { MethodOptions_IdempotencyLevel } from "@bufbuild/protobuf/wkt";
import type { GenService, GenServiceMethods } from "@bufbuild/protobuf/codegenv2";
import { deadlineExceeded } from "@tidemark/work";
import { isAppError } from "@tidemark/errors";
import { Pool, type Dispatcher } from "undici";
import { createCallSlots } from "./call-slots.ts";
import { callToHeaders, refusedHeader, type Call } from "./call.ts";
import { readEnvelopes, STREAM_TYPE, envelopeHeader } from "./envelopes.ts";
import { errorFromJson, peerUnavailable } from "./error-wire.ts";
import { observed, streamed, type CallObserver } from "./invoke.ts";
import { decodeMessage, encodeMessage } from "./messages.ts";
import { methodsOf, type Client, type Method } from "./service.ts";

/** Connections to one peer, shared by the clients of all its services. */
export type Peer = {
  client<S extends GenServiceMethods>(service: GenService<S>): Client<S>;
  close(): Promise<void>;
};

const CONNECTIONS_MAX = 32;
const ATTEMPTS_MAX = 40;
const BACKOFF_MS = 50;
const ANSWER_BYTES_MAX = 256 * 1024 * 1024;

type Outcome<T> = { answer: T } | { refused: true; cause: unknown };
type Response = Dispatcher.ResponseData;
/** A request, and how its answer is read. */
type Sending<T> = {
  readonly path: string;
  readonly type: string;
  readonly body: Uint8Array;
  readonly call: Call;
  readonly repeatable: boolean;
  readonly pool: Pool;
  readonly signal: AbortSignal;
  readonly read: (response: Response) => Promise<T>;
};

/** Returns whether an error occurred before the peer can have begun the request. */
function neverSent(error: unknown): boolean {
  const code = (error as { code?: unknown }).code;
  return code === "ECONNREFUSED" || code === "ENOTFOUND" || code === "EAI_AGAIN" || code === "UND_ERR_CONNECT_TIMEOUT";
}

/**
 * Opens a pool of HTTP/1.1 connections to a peer and speaks Connect's protocol over them. A stream that is not read to its end is cut off.
 * A request is repeated only where that is harmless: when the peer refused it before any handler
 * saw it, when no connection could be opened, or when the method is declared free of side effects.
 * Every other broken call is `service_unavailable`; the caller decides whether to repeat it.
 */
export function connectPeer(
  baseUrl: string,
  options: { connectionsMax?: number; observer?: CallObserver; token?: string | undefined } = {},
): Peer {
  const poolOptions = {
    pipelining: 1,
    keepAliveTimeout: 30_000,
    connectTimeout: 1000,
    headersTimeout: 0,
    bodyTimeout: 0,
  };
  const connections = options.connectionsMax ?? CONNECTIONS_MAX;
  const slots = createCallSlots(connections);
  const pool = new Pool(baseUrl, {
    ...poolOptions,
    connections,
    maxResponseSize: ANSWER_BYTES_MAX,
  });
  // A stream has a connection to itself for as long as it takes, so that it keeps none from short calls.
  const streams = new Pool(baseUrl, poolOptions);

  const attempt = async <T>(sending: Sending<T>): Promise<Outcome<T>> => {
    try {
      const response = await sending.pool.request({
        method: "POST",
        path: sending.path,
        body: sending.body,
        headers: {
          "content-type": sending.type,
          "connect-protocol-version": "1",
          ...callToHeaders(sending.call, options.token),
        },
        signal: sending.signal,
      });
      if (response.statusCode === 200) return { answer: await sending.read(response) };
      const text = await response.body.text();
      if (response.headers[refusedHeader] !== undefined) return { refused: true, cause: new Error(text) };
      throw errorFromJson(text);
    } catch (error) {
      if (isAppError(error)) throw error;
      if ((error as { name?: unknown }).name === "TimeoutError" || sending.call.left?.aborted === true)
        throw deadlineExceeded();
      if (sending.repeatable || neverSent(error)) return { refused: true, cause: error };
      throw peerUnavailable(error);
    }
  };

  const send = async <T>(sending: Sending<T>): Promise<T> => {
    let cause: unknown;
    for (let attempts = 1; attempts <= ATTEMPTS_MAX; attempts += 1) {
      const outcome = await attempt(sending);
      if ("answer" in outcome) return outcome.answer;
      cause = outcome.cause;
      const pause = BACKOFF_MS * (0.5 + Math.random());
      if (Date.now() + pause >= sending.call.deadlineMs) break;
      await new Promise((resolve) => setTimeout(resolve, pause));
    }
    throw peerUnavailable(cause);
  };

  const deadlineOf = (call: Call): AbortSignal => {
    const left = Math.ceil(call.deadlineMs - Date.now());
    if (left <= 0) throw deadlineExceeded();
    const over = AbortSignal.timeout(left);
    return call.left === undefined ? over : AbortSignal.any([over, call.left]);
  };

  const answer = async (path: string, method: Method, request: object, call: Call): Promise<object> => {
    const body = await encodeMessage(method.input, request);
    const signal = deadlineOf(call);
    const bytes = await slots.use(call, signal, () =>
      send({
        path,
        type: "application/proto",
        body,
        call,
        repeatable: isRepeatable(method),
        pool,
        signal,
        read: (response) => readHeld(response, call),
      }),
    );
    try {
      return await decodeMessage(method.output, bytes);
    } finally {
      call.hold?.(-bytes.length);
    }
  };

  const stream = async function* (
    path: string,
    method: Method,
    request: object,
    call: Call,
  ): AsyncGenerator<object, void, undefined> {
    const message = await encodeMessage(method.input, request);
    const stopped = new AbortController();
    try {
      const { body } = await send({
        path,
        type: STREAM_TYPE,
        body: Buffer.concat([envelopeHeader(message.length, false), message]),
        call,
        repeatable: isRepeatable(method),
        pool: streams,
        signal: AbortSignal.any([deadlineOf(call), stopped.signal]),
        read: (response) => Promise.resolve(response),
      });
      for await (const { isEnd, bytes } of readEnvelopes(body)) {
        if (!isEnd) yield await decodeMessage(method.output, bytes);
        else return endStream(Buffer.from(bytes).toString("utf8"));
      }
      throw peerUnavailable(new Error("the stream has no end"));
    } catch (error) {
      if (isAppError(error)) throw error;
      throw (error as { name?: unknown }).name === "TimeoutError" ? deadlineExceeded() : peerUnavailable(error);
    } finally {
      stopped.abort();
    }
  };

  return {
    client<S extends GenServiceMethods>(service: GenService<S>): Client<S> {
      const client: Record<string, unknown> = {};
      for (const [name, method] of methodsOf(service)) {
        const path = `/${service.typeName}/${method.name}`;
        const facts = { service: service.typeName, method: method.name, side: "client" as const };
        client[name] =
          method.methodKind === "unary"
            ? (request: object, call: Call) =>
                observed(options.observer, facts, () => answer(path, method, request, call))
            : (request: object, call: Call) =>
                streamed(call, options.observer, facts, () => stream(path, method, request, call));
      }
      return client as Client<S>;
    },
    close: async () => void (await Promise.all([pool.close(), streams.destroy()])),
  };
}

/** Reads an answer, whose bytes are held from now on unless it breaks off. @throws any error of `hold` */
async function readHeld({ headers, body }: Response, { hold }: Call): Promise<Uint8Array> {
  const length = Number(headers["content-length"]);
  try {
    hold?.(length);
  } catch (error) {
    body.on("error", () => undefined).destroy();
    throw error;
  }
  try {
    return await body.bytes();
  } catch (error) {
    hold?.(-length);
    throw error;
  }
}

function isRepeatable(method: Method): boolean {
  return method.idempotency === MethodOptions_IdempotencyLevel.NO_SIDE_EFFECTS;
}

/** Reads how a stream ended. @throws AppError unless it is complete */
function endStream(json: string): void {
  const { error } = JSON.parse(json) as { error?: object };
  if (error !== undefined) throw errorFromJson(JSON.stringify(error));
}
