import {
  constants,
  createServer,
  type Http2Server,
  type Http2ServerRequest,
  type ServerHttp2Session,
} from "node:http2";
import type { ConnectRouter, ServiceImpl } from "@connectrpc/connect";
import { connectNodeAdapter } from "@connectrpc/connect-node";
import { isAppError } from "@tidemark/errors";
import { callFromHeaders, STREAM_MS_MAX, type Call, isPeer, notAPeer } from "./call.ts";
import { errorToJson, toConnectError } from "./error-wire.ts";
import { addHealth, addReflection } from "./grpc-services.ts";
import { observed, streamed, withinDeadline, type CallObserver } from "./invoke.ts";
import { answerOf, methodsOf, streamOf, type Implementation } from "./service.ts";

const MESSAGE_BYTES_MAX = 128 * 1024 * 1024;
/** Most bytes of requests for health and reflection, which are open to any client: the name of a service or of a file. */
const OPEN_MESSAGE_BYTES_MAX = 64 * 1024;
const UNAUTHENTICATED = 16;

/** The HTTP/2 listener of a process: gRPC, gRPC-Web and Connect for any client. */
export type GrpcServer = {
  readonly port: number;
  /** Sends GOAWAY to every session, then waits for the calls in flight, at most `graceMs`. */
  close(graceMs: number): Promise<void>;
};

type ServerOptions = {
  host: string;
  port: number;
  ready: () => Promise<boolean>;
  observer?: CallObserver;
  onUnknownError?: (error: unknown) => void;
  /** The token that callers must present; without it any client that reaches the port is believed. */
  token?: string | undefined;
};

function addImplementation(router: ConnectRouter, implementation: Implementation, options: ServerOptions): void {
  const methods: Record<string, unknown> = {};
  type Context = { requestHeader: Headers; signal: AbortSignal; timeoutMs(): number | undefined };
  const callOf = (context: Context, isStream: boolean): Call =>
    callFromHeaders((header) => context.requestHeader.get(header) ?? undefined, {
      timeoutMs: context.timeoutMs(),
      isStream,
    });
  const shown = (error: unknown): Error => {
    if (!isAppError(error)) options.onUnknownError?.(error);
    return toConnectError(error);
  };
  for (const [name, method] of methodsOf(implementation.service)) {
    const handler = implementation.handlers[name]!;
    const facts = { service: implementation.service.typeName, method: method.name, side: "server" as const };
    const answer = async (request: object, context: Context): Promise<object> => {
      try {
        const call = callOf(context, false);
        return await observed(options.observer, facts, () =>
          withinDeadline(call, () => answerOf(handler, request, call)),
        );
      } catch (error) {
        throw shown(error);
      }
    };
    const stream = async function* (request: object, context: Context): AsyncGenerator<object, void, undefined> {
      try {
        const call = callOf(context, true);
        const messages = streamed(call, options.observer, facts, () => streamOf(handler, request, call));
        // The client is gone, and with it the reader of an error.
        context.signal.addEventListener("abort", () => void messages.return().catch(() => {}), { once: true });
        yield* messages;
      } catch (error) {
        throw shown(error);
      }
    };
    methods[name] = method.methodKind === "unary" ? answer : stream;
  }
  router.service(implementation.service, methods as Partial<ServiceImpl<typeof implementation.service>>);
}

async function drain(server: Http2Server, sessions: Set<ServerHttp2Session>, graceMs: number): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  for (const session of sessions) session.close();
  const timer = setTimeout(() => {
    for (const session of sessions) session.destroy();
  }, graceMs);
  await closed;
  clearTimeout(timer);
}

/** Answers a caller without the token: its body is not read, and it is asked to send no more. */
function refuse({ headers, stream }: Http2ServerRequest): void {
  const error = notAPeer();
  const type = String(headers["content-type"] ?? "");
  stream.once("finish", () => stream.close(constants.NGHTTP2_NO_ERROR));
  if (type.startsWith("application/grpc")) {
    const status = { "grpc-status": String(UNAUTHENTICATED), "grpc-message": encodeURIComponent(error.message) };
    stream.respond({ ":status": 200, "content-type": type, ...status }, { endStream: true });
    return;
  }
  stream.respond({ ":status": 401, "content-type": "application/json" });
  stream.end(JSON.stringify(errorToJson(error)));
}

/** Serves the implementations with health checks and reflection on cleartext HTTP/2. Only health and reflection answer without the token. */
export async function startGrpcServer(
  implementations: readonly Implementation[],
  options: ServerOptions,
): Promise<GrpcServer> {
  const services = implementations.map(({ service }) => service.typeName);
  const guarded = connectNodeAdapter({
    routes(router) {
      for (const implementation of implementations) addImplementation(router, implementation, options);
    },
    readMaxBytes: MESSAGE_BYTES_MAX,
    maxTimeoutMs: STREAM_MS_MAX,
  });
  const open = connectNodeAdapter({
    routes(router) {
      addHealth(router, services, options.ready);
      addReflection(
        router,
        implementations.map(({ service }) => service.file),
      );
    },
    readMaxBytes: OPEN_MESSAGE_BYTES_MAX,
    maxTimeoutMs: STREAM_MS_MAX,
    fallback(request, response) {
      if (isPeer(request.headers, options.token)) guarded(request, response);
      else refuse(request as Http2ServerRequest);
    },
  });
  const server = createServer({}, open);
  const sessions = new Set<ServerHttp2Session>();
  server.on("session", (session) => {
    sessions.add(session);
    session.once("close", () => sessions.delete(session));
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen({ host: options.host, port: options.port, backlog: 511 }, resolve);
  });
  const address = server.address();
  return {
    port: typeof address === "object" && address !== null ? address.port : options.port,
    close: (graceMs) => drain(server, sessions, graceMs),
  };
}
