import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { setTimeout as pause } from "node:timers/promises";
import type { UnaryServer } from "@tidemark/rpc";

/** A plain HTTP listener of a process. */
export type InternalServer = {
  readonly port: number;
  /** Closes idle connections and waits for the others, at most `graceMs`. */
  close(graceMs: number): Promise<void>;
};

const GOODBYE_MS = 1000;
const POLL_MS = 20;

/** Opens the HTTP/1.1 port for Connect calls of peers, `/livez` (the process answers) and `/readyz` (its modules can work). */
export async function startInternalServer(options: {
  host: string;
  port: number;
  rpc: UnaryServer;
  ready: () => Promise<boolean>;
}): Promise<InternalServer> {
  const answer = async (path: string): Promise<Answer> => {
    if (path === "/livez") return { status: 200, type: "text/plain", body: "ok\n" };
    if (path !== "/readyz") return notFound;
    const ready = await options.ready().catch(() => false);
    return { status: ready ? 200 : 503, type: "text/plain", body: ready ? "ok\n" : "not ready\n" };
  };
  return listen(options, (request, response) => {
    if (!options.rpc.handle(request, response)) answerWith(answer, request, response);
  });
}

/** Opens the HTTP/1.1 port for Prometheus: only `/metrics`, so that clients that may read metrics may not call services. */
export async function startMetricsServer(options: {
  host: string;
  port: number;
  metricsText: () => Promise<string>;
}): Promise<InternalServer> {
  const answer = async (path: string): Promise<Answer> =>
    path === "/metrics"
      ? { status: 200, type: "text/plain; version=0.0.4", body: await options.metricsText() }
      : notFound;
  return listen(options, (request, response) => answerWith(answer, request, response));
}

type Answer = { status: number; type: string; body: string };
const notFound: Answer = { status: 404, type: "text/plain", body: "not found\n" };

function answerWith(
  answer: (path: string) => Promise<Answer>,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  request.resume();
  void answer(request.url ?? "/").then(({ status, type, body }) => {
    response.writeHead(status, { "content-type": type, "x-content-type-options": "nosniff" });
    response.end(body);
  });
}

async function listen(
  options: { host: string; port: number },
  onRequest: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<InternalServer> {
  const server: Server = createServer({ keepAliveTimeout: 60_000, requestTimeout: 60_000 }, onRequest);
  // A connection ends now and then, so that peers notice new replicas behind the same name.
  server.maxRequestsPerSocket = 100_000;
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen({ host: options.host, port: options.port, backlog: 511 }, resolve);
  });
  const address = server.address();
  return {
    port: typeof address === "object" && address !== null ? address.port : options.port,
    async close(graceMs) {
      // Peers learn from their next request that they should use another process. If a connection closed while a request
      // is on its way, the sender could not know whether it took effect.
      const patience = Date.now() + Math.min(graceMs, GOODBYE_MS);
      while ((await connectionsOf(server)) > 0 && Date.now() < patience) await pause(POLL_MS);
      await new Promise<void>((resolve) => {
        const timer = setTimeout(() => server.closeAllConnections(), graceMs);
        server.close(() => {
          clearTimeout(timer);
          resolve();
        });
        server.closeIdleConnections();
      });
    },
  };
}

function connectionsOf(server: Server): Promise<number> {
  return new Promise((resolve, reject) => {
    server.getConnections((error, count) => (error === null ? resolve(count) : reject(error)));
  });
}
