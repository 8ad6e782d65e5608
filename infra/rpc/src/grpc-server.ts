import { createServer, type Http2Server, type ServerHttp2Session } from "node:http2";
import type { ConnectRouter, ServiceImpl } from "@connectrpc/connect";
import { connectNodeAdapter } from "@connectrpc/connect-node";
import { isAppError } from "@tidemark/errors";
import { callFromHeaders, STREAM_MS_MAX, type Call } from "./call.ts";
import { toConnectError } from "./error-wire.ts";
import { addHealth } from "./health.ts";
import { observed, streamed, withinDeadline, type CallObserver } from "./invoke.ts";
import { addReflection } from "./reflection.ts";
import { answerOf, methodsOf, streamOf, type Implementation } from "./service.ts";

const MESSAGE_BYTES_MAX = 128 * 1024 * 1024;

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
  /** What callers must present; without it everyone who reaches the port is believed. */
  token?: string | undefined;
};

function addImplementation(router: ConnectRouter, implementation: Implementation, options: ServerOptions): void {
  const methods: Record<string, unknown> = {};
  type Context = { requestHeader: Headers; signal: AbortSignal; timeoutMs(): number | undefined };
  const callOf = (context: Context, isStream: boolean): Call =>
    callFromHeaders((header) => context.requestHeader.get(header) ?? undefined, {
      token: options.token,
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

/** Serves the implementations with health checks and reflection on cleartext HTTP/2. */
export async function startGrpcServer(
  implementations: readonly Implementation[],
  options: ServerOptions,
): Promise<GrpcServer> {
  const services = implementations.map(({ service }) => service.typeName);
  const server = createServer(
    {},
    connectNodeAdapter({
      routes(router) {
        for (const implementation of implementations) addImplementation(router, implementation, options);
        addHealth(router, services, options.ready);
        addReflection(
          router,
          implementations.map(({ service }) => service.file),
        );
      },
      readMaxBytes: MESSAGE_BYTES_MAX,
      maxTimeoutMs: STREAM_MS_MAX,
    }),
  );
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
