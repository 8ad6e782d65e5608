import { once } from "node:events";
import { connect, type Socket } from "node:net";

/** A connection of an attacker, who writes any bytes. */
export type Wire = {
  readonly socket: Socket;
  /** Of the answers that have begun, in their order. */
  readonly statuses: readonly number[];
  /** How many bytes arrived. */
  readonly bytes: () => number;
  /** The last bytes that arrived. */
  readonly end: () => string;
  /** Resolves when the connection has ended, in any way. */
  readonly closed: Promise<unknown>;
};

const KEPT_BYTES = 12;
/** Longer by one than the kept text, so that no status line counts twice. */
const STATUS_LINE = /HTTP\/1\.1 (\d{3}) /g;

/** Opens a connection and reads everything that arrives. */
export async function openWire(baseUrl: string): Promise<Wire> {
  const { hostname, port } = new URL(baseUrl);
  const socket = connect(Number(port), hostname);
  const closed = new Promise((resolve) => socket.once("close", resolve));
  await once(socket, "connect");
  socket.on("error", () => undefined);
  const statuses: number[] = [];
  let bytes = 0;
  let end = "";
  socket.on("data", (data: Buffer) => {
    bytes += data.length;
    const text = end + data.toString("latin1");
    for (const [, status] of text.matchAll(STATUS_LINE)) statuses.push(Number(status));
    end = text.slice(-KEPT_BYTES);
  });
  return { socket, statuses, bytes: () => bytes, end: () => end, closed };
}

/** Opens several connections. */
export function openWires(baseUrl: string, count: number): Promise<Wire[]> {
  return Promise.all(Array.from({ length: count }, () => openWire(baseUrl)));
}

/** Returns the head of a request. */
export function headOf(method: string, path: string, headers: Readonly<Record<string, string | number>>): string {
  const lines = Object.entries({ host: "x", ...headers }).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${method} ${path} HTTP/1.1\r\n${lines.join("")}\r\n`;
}

/** Returns a request with a JSON body. */
export function postOf(path: string, authorization: string, body: string): string {
  const headers = { authorization, "content-type": "application/json", "content-length": Buffer.byteLength(body) };
  return headOf("POST", path, headers) + body;
}

/** Returns this number of bytes of a body as chunks of one byte each, without an end. */
export const inSingleBytes = (bytes: number, byte: string): string => `1\r\n${byte}\r\n`.repeat(bytes);

/** How often each value is among them. */
export function countOf(values: readonly number[]): Readonly<Record<number, number>> {
  const counts: Record<number, number> = {};
  for (const value of values) counts[value] = (counts[value] ?? 0) + 1;
  return counts;
}
