import { createServer, type Server } from "node:http";
import { afterAll, beforeAll, beforeEach, expect, test } from "@jest/globals";
import { create } from "@bufbuild/protobuf";
import type { GenService } from "@bufbuild/protobuf/codegenv2";
import { AppError } from "@tidemark/errors";
import { CallerKind, IdentitySchema } from "@tidemark/proto/common/v1/common";
import { EchoService } from "@tidemark/proto/testing/v1/echo";
import { until } from "@tidemark/testkit";
import type { Turn, Turns } from "@tidemark/work";
import { createCall } from "./call.ts";
import { connectPeer, type Peer } from "./network-client.ts";
import { implement } from "./service.ts";
import { createUnaryServer } from "./unary-server.ts";

const ORG = "0a1b2c3d-0000-4000-8000-000000000001";
const identity = create(IdentitySchema, { kind: CallerKind.API_KEY, orgId: ORG });

let begun: string[] = [];
let ended = 0;
let withdrawn = 0;
let waits = false;
let admit: () => void = () => {};
const turn: Turn = { end: () => void (ended += 1) };
const turns: Turns = {
  begin(org, lane, deadlineMs) {
    begun.push(`${lane} ${org} ${deadlineMs > Date.now()}`);
    if (!waits) return turn;
    const { promise, resolve, reject } = Promise.withResolvers<Turn>();
    admit = () => resolve(turn);
    const withdraw = (): void => {
      withdrawn += 1;
      reject(new AppError("service_unavailable", "withdrawn"));
    };
    return { turn: promise, withdraw };
  },
  waiting: () => 0,
  close: () => {},
};

let server: Server;
let peer: Peer;
let reads = 0;
beforeAll(async () => {
  const implementation = implement(EchoService as GenService<(typeof EchoService)["method"]>, {
    read: async ({ text }) => {
      reads += 1;
      return { text };
    },
    write: async () => ({}),
    fail: () => Promise.reject(new AppError("not_found", "no such thing")),
    hang: () => new Promise(() => {}),
    count: async function* () {},
  });
  const rpc = createUnaryServer([implementation], { turns });
  server = createServer((request, response) => void rpc.handle(request, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  peer = connectPeer(`http://127.0.0.1:${(server.address() as { port: number }).port}`);
});
afterAll(async () => {
  await peer.close();
  await new Promise((resolve) => server.close(resolve));
});
beforeEach(() => {
  [begun, ended, withdrawn, waits, reads] = [[], 0, 0, false, 0];
});
const client = () => peer.client(EchoService);

test("a call for an organization has one turn of it in the lane of the service, and ends it", async () => {
  await client().read({ text: "a" }, createCall({ identity }));
  expect(begun).toEqual([`${EchoService.typeName} ${ORG} true`]);
  expect(ended).toBe(1);
});

test("a call that fails ends its turn", async () => {
  await expect(client().fail({}, createCall({ identity }))).rejects.toMatchObject({ reason: "not_found" });
  expect(ended).toBe(1);
});

test("calls that a process makes for itself have no turns", async () => {
  await client().read({ text: "a" }, createCall());
  expect(begun).toEqual([]);
});

test("a call waits for its turn before it is handled", async () => {
  waits = true;
  const answer = client().read({ text: "a" }, createCall({ identity }));
  await until("it waits", () => begun.length === 1);
  expect(reads).toBe(0);
  admit();
  expect(await answer).toMatchObject({ text: "a" });
  expect(ended).toBe(1);
});

test("a call whose caller gives up while it waits is never handled", async () => {
  waits = true;
  const answer = client().read({ text: "a" }, createCall({ identity, timeoutMs: 50 }));
  await expect(answer).rejects.toMatchObject({ reason: "deadline_exceeded" });
  await until("it was withdrawn", () => withdrawn === 1);
  expect([reads, ended]).toEqual([0, 0]);
});
