import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { create } from "@bufbuild/protobuf";
import type { GenService } from "@bufbuild/protobuf/codegenv2";
import { CallerKind, IdentitySchema } from "@tidemark/proto/common/v1/common";
import { EchoService } from "@tidemark/proto/testing/v1/echo";
import { until } from "@tidemark/testkit";
import type { Server } from "node:http";
import { createCall } from "./call.ts";
import { close, createEcho, listen, portOf, type EchoMethods } from "./echo.fixture.ts";
import { createLocalClient } from "./local-client.ts";
import { connectPeer, type Peer } from "./network-client.ts";
import type { Client } from "./service.ts";
import { createUnaryServer } from "./unary-server.ts";

const echo = createEcho();
let server: Server;
let peer: Peer;

beforeAll(async () => {
  server = await listen(createUnaryServer([echo.implementation]));
  peer = connectPeer(`http://127.0.0.1:${portOf(server)}`);
});
afterAll(async () => {
  await peer.close();
  await close(server);
});

const clients: [string, () => Client<EchoMethods>][] = [
  ["in the process", () => createLocalClient(EchoService as GenService<EchoMethods>, echo.implementation)],
  ["over the network", () => peer.client(EchoService)],
];

describe.each(clients)("a client %s", (_where, make) => {
  test("gets the answer, with columns and unset fields as they are", async () => {
    const answer = await make().read({ text: "hé\n", numbers: [1.5, -0, 5e-324] }, createCall());
    expect(answer).toMatchObject({ text: "hé\n", numbers: [1.5, -0, 5e-324] });
    expect(await make().read({}, createCall())).toMatchObject({ text: "", numbers: [] });
  });

  test("gets the messages of a stream, empty and large ones", async () => {
    const numbers = Array.from({ length: 20 }, (_, i) => i);
    for (const text of ["", "é".repeat(300_000)]) {
      const got = await Array.fromAsync(make().count({ text, numbers }, createCall()));
      expect(got.map((message) => message.numbers[0])).toEqual(numbers);
      expect(new Set(got.map((message) => message.text))).toEqual(new Set([text]));
    }
    expect(await Array.fromAsync(make().count({}, createCall()))).toEqual([]);
  });

  test("gets the messages of a stream before its error", async () => {
    const got: number[] = [];
    const read = async (text: string): Promise<void> => {
      for await (const { numbers } of make().count({ text, numbers: [1, 2] }, createCall())) got.push(numbers[0]!);
    };
    await expect(read("fail")).rejects.toMatchObject({
      reason: "not_found",
      message: "run not found",
      field: "run_id",
    });
    expect(got).toEqual([1, 2]);
    await expect(read("unknown")).rejects.toBeInstanceOf(Error);
  });

  test("that stops reading ends the stream, and is not sent all before", async () => {
    const before = { counted: echo.counted, ended: echo.ended };
    const numbers = Array.from({ length: 5000 }, (_, i) => i);
    for await (const {
      numbers: [number],
    } of make().count({ text: "x".repeat(100_000), numbers }, createCall())) {
      if (number === 3) break;
    }
    await until("the end of the stream", () => echo.ended === before.ended + 1);
    // Messages that fit into the buffers of a connection are sent ahead.
    expect(echo.counted - before.counted).toBeLessThan(numbers.length / 2);
  });

  test("is told after the deadline of a stream that it is over", async () => {
    const before = echo.ended;
    const read = () => Array.fromAsync(make().count({ text: "hang" }, createCall({ timeoutMs: 50 })));
    await expect(read()).rejects.toMatchObject({ reason: "deadline_exceeded" });
    echo.letGo();
    await until("the end of the stream", () => echo.ended === before + 1);
  });

  test("may have a stream for longer than an answer", async () => {
    const call = createCall({ timeoutMs: 3_600_000 });
    await Array.fromAsync(make().count({}, call));
    expect(Math.abs(echo.seen.at(-1)!.deadlineMs - call.deadlineMs)).toBeLessThan(1000);
  });

  test("carries who calls, the request id, the trace and the deadline", async () => {
    const identity = create(IdentitySchema, {
      orgId: "org",
      kind: CallerKind.API_KEY,
      scopes: ["export:read", "sdk:ingest"],
      projectId: "p",
    });
    const call = createCall({ requestId: "r-1", identity, traceparent: "00-aa-bb-01", timeoutMs: 5000 });
    await make().read({ text: "x" }, call);
    const got = echo.seen.at(-1);
    expect(got).toMatchObject({ requestId: "r-1", traceparent: "00-aa-bb-01" });
    expect(got?.identity).toMatchObject({ orgId: "org", scopes: ["export:read", "sdk:ingest"], projectId: "p" });
    expect(Math.abs((got?.deadlineMs ?? 0) - call.deadlineMs)).toBeLessThan(1000);
  });

  test("gets an AppError with every detail that the handler gave", async () => {
    await expect(make().fail({}, createCall())).rejects.toMatchObject({
      name: "AppError",
      reason: "run_search_invalid",
      message: "unknown status",
      field: "q",
      position: 3,
      retryAfterSeconds: 7,
    });
  });

  test("is told after the deadline that it is over, while the handler still runs", async () => {
    await expect(make().hang({}, createCall({ timeoutMs: 50 }))).rejects.toMatchObject({ reason: "deadline_exceeded" });
    echo.letGo();
  });

  test("takes a deadline with a fraction of a millisecond", async () => {
    const call = { ...createCall(), deadlineMs: Date.now() + 5000.25 };
    await expect(make().write({ text: "x" }, call)).resolves.toMatchObject({ text: "x" });
  });

  test("does not call at all when the deadline has passed", async () => {
    const call = createCall({ timeoutMs: -1 });
    await expect(make().read({}, call)).rejects.toMatchObject({ reason: "deadline_exceeded" });
    // Calls of other tests that were given up may still arrive.
    expect(echo.seen.map(({ requestId }) => requestId)).not.toContain(call.requestId);
  });
});
