import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { BlockList, isIP, type Socket } from "node:net";

/** How many connections a server holds. */
type ConnectionBounds = {
  readonly connectionsMax: number;
  /** Addresses and CIDR ranges whose connections are of many clients: proxies, and this machine. They count only towards all connections. */
  readonly shared: readonly string[];
  /** The network that an address counts as. */
  readonly networkOf: (address: string) => string;
};

/** Share of all connections that one network may have. */
const NETWORK_SHARE = 1 / 4;

/**
 * Bounds the connections of a server, of all clients and of each network of clients: those beyond are closed immediately. A client that reads nothing of its
 * answer for as long as the server's timeout is cut.
 */
export function boundConnections(server: Server, { connectionsMax, shared, networkOf }: ConnectionBounds): void {
  server.maxConnections = connectionsMax;
  const networkMax = Math.max(1, Math.floor(connectionsMax * NETWORK_SHARE));
  const isShared = rangesOf(shared);
  const open = new Map<string, number>();
  server.on("connection", (socket: Socket) => {
    const { remoteAddress } = socket;
    if (remoteAddress === undefined || isShared(remoteAddress)) return;
    const network = networkOf(remoteAddress);
    const count = (open.get(network) ?? 0) + 1;
    if (count > networkMax) {
      socket.destroy();
      return;
    }
    open.set(network, count);
    socket.once("close", () => {
      const left = open.get(network)! - 1;
      if (left === 0) open.delete(network);
      else open.set(network, left);
    });
  });
  server.on("timeout", (socket: Socket) => {
    // Clients that wait for us may stay.
    if (socket.writableLength > 0) socket.destroy();
  });
}

/** Returns a function that reports whether an address is in one of the ranges. */
function rangesOf(ranges: readonly string[]): (address: string) => boolean {
  const list = new BlockList();
  for (const range of ranges) {
    const [address = "", bits] = range.split("/");
    const family = isIP(address) === 6 ? "ipv6" : "ipv4";
    if (bits === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(bits), family);
  }
  return (address) => list.check(address, isIP(address) === 6 ? "ipv6" : "ipv4");
}

/** Requests of one connection that are served at a time. */
const SERVED_MAX = 32;
/** Waiting requests that begin in one turn of the event loop. */
const BEGUN_MAX = 8;

type Serve = (request: IncomingMessage, response: ServerResponse) => void;

/** Requests of one connection. */
type Line = { serving: number; readonly waiting: [IncomingMessage, ServerResponse][]; isDue: boolean };

/**
 * Bounds how many requests of one connection are served at a time. A client may send more without waiting for answers (RFC 9112, Pipelining), but they
 * wait, and the connection is not read until they have begun. They begin in turns with other work of the event loop, because one read of a socket may return
 * thousands. Call it when the server has its handler of requests, which it replaces.
 */
export function boundPipelining(server: Server): void {
  const handlers = server.listeners("request") as Serve[];
  server.removeAllListeners("request");
  const lines = new WeakMap<Socket, Line>();

  const begin = (line: Line, request: IncomingMessage, response: ServerResponse): void => {
    line.serving += 1;
    response.once("close", () => {
      line.serving -= 1;
      if (line.waiting.length > 0) goOnSoon(line, request.socket);
    });
    for (const serve of handlers) serve.call(server, request, response);
  };
  const goOn = (line: Line, socket: Socket): void => {
    line.isDue = false;
    if (socket.destroyed) line.waiting.length = 0;
    for (let begun = 0; begun < BEGUN_MAX && line.serving < SERVED_MAX; begun += 1) {
      const next = line.waiting.shift();
      if (next === undefined) break;
      begin(line, ...next);
    }
    if (line.waiting.length === 0) readOn(socket);
    else if (line.serving < SERVED_MAX) goOnSoon(line, socket);
  };
  const goOnSoon = (line: Line, socket: Socket): void => {
    if (line.isDue) return;
    line.isDue = true;
    setImmediate(goOn, line, socket);
  };

  server.on("request", (request: IncomingMessage, response: ServerResponse) => {
    const { socket } = request;
    let line = lines.get(socket);
    if (line === undefined) lines.set(socket, (line = { serving: 0, waiting: [], isDue: false }));
    if (line.serving < SERVED_MAX && line.waiting.length === 0) {
      begin(line, request, response);
      return;
    }
    line.waiting.push([request, response]);
    stopReading(socket);
  });
}

/** Stops reading a connection, even if a request on it or the server's own backpressure would resume. */
function stopReading(socket: Socket): void {
  if (Object.hasOwn(socket, "resume")) return;
  socket.pause();
  socket.resume = () => socket;
}

/** Ends `stopReading`. */
function readOn(socket: Socket): void {
  if (!Object.hasOwn(socket, "resume")) return;
  Reflect.deleteProperty(socket, "resume");
  socket.resume();
}

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
