import type { Server } from "node:http";
import type { Socket } from "node:net";

/** Milliseconds between two checks of the connections of a closing server. */
const SWEEP_MS = 100;

/**
 * Watches the connections of a server, and returns a function that ends those without a request from then on until the server is closed: those whose last
 * request was in flight at the close, which would otherwise linger for their keep-alive time, and those that browsers and clients opened ahead of any
 * request, which Node does not count as idle and would keep for the time that headers may take.
 */
export function watchIdleConnections(server: Server): () => void {
  const sockets = new Set<Socket>();
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  const sweep = (): void => {
    server.closeIdleConnections();
    for (const socket of sockets) {
      if (socket.bytesRead === 0) socket.destroy();
    }
  };
  return () => {
    const timer = setInterval(sweep, SWEEP_MS).unref();
    server.once("close", () => clearInterval(timer));
  };
}
