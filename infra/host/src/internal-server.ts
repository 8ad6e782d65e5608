import { createServer, type Server } from "node:http";
import { setTimeout as pause } from "node:timers/promises";
import type { UnaryServer } from "@tidemark/rpc";

/** The internal listener of a process: peers, probes, Prometheus. */
export type InternalServer = {
  readonly port: number;
  /** Closes idle connections and waits for the others, at most `graceMs`. */
  close(graceMs: number): Promise<void>;
};

const GOODBYE_MS = 1000;
const POLL_MS = 20;

/**
 * Opens the HTTP/1.1 port for Connect calls of peers, `/livez` (the process answers), `/readyz`
 * (its modules can work) and `/metrics` (Prometheus, in full).
 */
export async function startInternalServer(options: {
  host: string;
  port: number;
  rpc: UnaryServer;
  ready: () => Promise<boolean>;
  metricsText: () => Promise<string>;
}): Promise<InternalServer> {
  const answer = async (path: string): Promise<{ status: number; type: string; body: string }> => {
    if (path === "/livez") return { status: 200, type: "text/plain", body: "ok\n" };
    if (path === "/readyz") {
      const ready = await options.ready().catch(() => false);
      return { status: ready ? 200 : 503, type: "text/plain", body: ready ? "ok\n" : "not ready\n" };
    }
    if (path === "/metrics") {
      return { status: 200, type: "text/plain; version=0.0.4", body: await options.metricsText() };
    }
    return { status: 404, type: "text/plain", body: "not found\n" };
  };
  const server: Server = createServer({ keepAliveTimeout: 60_000, requestTimeout: 60_000 }, (request, response) => {
    if (options.rpc.handle(request, response)) return;
    request.resume();
    void answer(request.url ?? "/").then(({ status, type, body }) => {
      response.writeHead(status, { "content-type": type });
      response.end(body);
    });
  });
  // Connections end after this many requests, so that peers sometimes find new replicas behind the same name.
  server.maxRequestsPerSocket = 100_000;
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen({ host: options.host, port: options.port, backlog: 511 }, resolve);
  });
  const address = server.address();
  return {
    port: typeof address === "object" && address !== null ? address.port : options.port,
    async close(graceMs) {
      // Peers learn from the answer to their next request that they should send it elsewhere. If a
      // connection closed while a request is on its way, the sender would not know its outcome.
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
