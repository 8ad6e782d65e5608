import type { Server } from "node:http";
import { BlockList, isIP, type Socket } from "node:net";

/** How many connections a server holds. */
export type ConnectionBounds = {
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
