import { createServer, type Server } from "node:http";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { create } from "@bufbuild/protobuf";
import type { GenService } from "@bufbuild/protobuf/codegenv2";
import { CallerKind, IdentitySchema } from "@tidemark/proto/common/v1/common";
import { EchoService } from "@tidemark/proto/testing/v1/echo";
import { until } from "@tidemark/testkit";
import { createCall } from "./call.ts";
import { connectPeer, type Peer } from "./network-client.ts";
import { implement } from "./service.ts";
import { createUnaryServer } from "./unary-server.ts";

const CONNECTIONS = 8;
const identityOf = (orgId: string) => create(IdentitySchema, { kind: CallerKind.API_KEY, orgId });
const [NOISY, QUIET] = [
  identityOf("0a1b2c3d-0000-4000-8000-000000000001"),
  identityOf("0a1b2c3d-0000-4000-8000-000000000002"),
];

/** Calls for `held` wait in the peer until they are released. */
const held: (() => void)[] = [];
let server: Server;
let peer: Peer;

beforeAll(async () => {
  const implementation = implement(EchoService as GenService<(typeof EchoService)["method"]>, {
    read: async ({ text }) => {
      if (text === "held") await new Promise<void>((resolve) => held.push(resolve));
      return { text };
    },
    write: async () => ({}),
    fail: async () => ({}),
    hang: () => new Promise(() => {}),
    count: async function* () {},
  });
  const rpc = createUnaryServer([implementation]);
  server = createServer((request, response) => void rpc.handle(request, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = `http://127.0.0.1:${(server.address() as { port: number }).port}`;
  peer = connectPeer(address, { connectionsMax: CONNECTIONS });
});
afterAll(async () => {
  await peer.close();
  await new Promise((resolve) => server.close(resolve));
});
const read = (text: string, identity: typeof NOISY, timeoutMs = 30_000) =>
  peer.client(EchoService).read({ text }, createCall({ identity, timeoutMs }));

test("calls of an organization whose calls wait at the peer do not keep those of others waiting", async () => {
  const asked = Array.from({ length: 5 * CONNECTIONS }, () => read("held", NOISY));
  await until("the peer to hold some", () => held.length > 0);
  for (let i = 0; i < 20; i += 1) expect((await read("quick", QUIET)).text).toBe("quick");
  expect(held.length).toBeLessThan(CONNECTIONS);
  // A call whose time is over leaves the queue.
  await expect(read("held", NOISY, 100)).rejects.toMatchObject({ reason: "deadline_exceeded" });
  let answered = 0;
  const counted = asked.map((one) => one.then(() => (answered += 1)));
  await until("all to be answered", () => {
    for (const letGo of held.splice(0)) letGo();
    return answered === asked.length;
  });
  await Promise.all(counted);
});
