import { createServer, type Http2Server, type ServerHttp2Session } from "node:http2";
import type { ConnectRouter, ServiceImpl } from "@connectrpc/connect";
import { connectNodeAdapter } from "@connectrpc/connect-node";
import { isAppError } from "@tidemark/errors";
import { callFromHeaders, observed, withinDeadline, type CallObserver } from "./call.ts";
import { toConnectError } from "./error-wire.ts";
import { addHealth, addReflection } from "./grpc-services.ts";
import { unaryMethods, type Implementation } from "./service.ts";

const MESSAGE_BYTES_MAX = 128 * 1024 * 1024;
const TIMEOUT_MS_MAX = 60_000;

/** The HTTP/2 listener of a process: gRPC, gRPC-Web and Connect for any client. */
export type GrpcServer = {
  readonly port: number;
  /** Sends GOAWAY to every session, then waits for the requests in flight, at most `graceMs`. */
  close(graceMs: number): Promise<void>;
};

type ServerOptions = {
  host: string;
  port: number;
  ready: () => Promise<boolean>;
  observer?: CallObserver;
  onUnknownError?: (error: unknown) => void;
  /** The token that peers must send. Without it, everyone who can reach the port is trusted. */
  token?: string | undefined;
};

function addImplementation(router: ConnectRouter, implementation: Implementation, options: ServerOptions): void {
  const methods: Record<string, unknown> = {};
  for (const [name, method] of unaryMethods(implementation.service)) {
    const handler = implementation.handlers[name];
    const facts = { service: implementation.service.typeName, method: method.name, side: "server" as const };
    methods[name] = async (request: never, context: { requestHeader: Headers; timeoutMs(): number | undefined }) => {
      try {
        const get = (header: string) => context.requestHeader.get(header) ?? undefined;
        const call = callFromHeaders(get, { token: options.token, timeoutMs: context.timeoutMs() });
        return await observed(options.observer, facts, () => withinDeadline(call, () => handler!(request, call)));
      } catch (error) {
        if (!isAppError(error)) options.onUnknownError?.(error);
        throw toConnectError(error);
      }
    };
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
      maxTimeoutMs: TIMEOUT_MS_MAX,
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
