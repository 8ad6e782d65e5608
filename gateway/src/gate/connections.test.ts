import { createServer, type Server } from "node:http";
import { connect, type AddressInfo, type Socket } from "node:net";
import { once } from "node:events";
import { afterEach, expect, test } from "@jest/globals";
import { boundConnections } from "./connections.ts";

let server: Server;
const sockets: Socket[] = [];
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
  server.closeAllConnections();
  server.close();
});

async function start(connectionsMax: number, shared: readonly string[] = []): Promise<void> {
  server = createServer((request, response) => {
    if (request.url === "/large") response.end(Buffer.alloc(64 * 1024 * 1024));
    else response.end("ok");
  });
  boundConnections(server, { connectionsMax, shared, networkOf: (address) => address });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
}

/** Returns whether a new connection from an address of this machine is served. */
async function isServed(localAddress: string): Promise<boolean> {
  const socket = connect({ host: "127.0.0.1", port: (server.address() as AddressInfo).port, localAddress });
  sockets.push(socket);
  socket.on("error", () => undefined).write("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  const served = once(socket, "data").then(
    () => true,
    () => false,
  );
  return Promise.race([served, once(socket, "close").then(() => false)]);
}

test("a network has a quarter of the connections at most, and others are served", async () => {
  await start(8);
  expect([await isServed("127.0.0.2"), await isServed("127.0.0.2"), await isServed("127.0.0.2")]).toEqual([
    true,
    true,
    false,
  ]);
  expect(await isServed("127.0.0.3")).toBe(true);
});

test("a connection that ended makes room", async () => {
  await start(4);
  expect(await isServed("127.0.0.2")).toBe(true);
  sockets.pop()!.destroy();
  while (!(await isServed("127.0.0.2"))) continue;
});

test("an address shared by many clients may have all connections, and no more", async () => {
  await start(4, ["127.0.0.0/8"]);
  const served = [];
  for (let i = 0; i < 5; i += 1) served.push(await isServed("127.0.0.2"));
  expect(served).toEqual([true, true, true, true, false]);
});

test("a client that does not read its answer is disconnected, an idle one is not", async () => {
  await start(8);
  server.timeout = 200;
  const port = (server.address() as AddressInfo).port;
  const [stalling, idle] = [connect(port, "127.0.0.1"), connect(port, "127.0.0.1")];
  sockets.push(stalling, idle);
  stalling.pause();
  stalling.on("error", () => undefined).write("GET /large HTTP/1.1\r\nHost: x\r\n\r\n");
  const [accepted] = (await once(server, "timeout")) as [Socket];
  const both = await new Promise<number>((resolve) => {
    const look = (): void =>
      void server.getConnections((_error, count) => (count === 1 ? resolve(count) : setTimeout(look, 20)));
    look();
  });
  expect([both, accepted === undefined]).toEqual([1, false]);
  expect(idle.destroyed).toBe(false);
});
