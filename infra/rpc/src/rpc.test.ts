import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { create } from "@bufbuild/protobuf";
import type { GenService, GenServiceMethods } from "@bufbuild/protobuf/codegenv2";
import { AppError } from "@tidemark/errors";
import { CallerKind, IdentitySchema } from "@tidemark/proto/common/v1/common";
import { createServer, type Server } from "node:http";
import { connect, type Socket } from "node:net";
import { until } from "@tidemark/testkit";
import { createCall, type Call } from "./call.ts";
import { createLocalClient } from "./local-client.ts";
import { connectPeer, type Peer } from "./network-client.ts";
import { implement, type Client, type Implementation } from "./service.ts";
import { EchoService } from "@tidemark/proto/testing/v1/echo";
import { createUnaryServer, type UnaryServer } from "./unary-server.ts";

/** Of a body that a stranger announces. */
const LARGE_BYTES = 64 * 1024 * 1024;

type EchoMethods = (typeof EchoService)["method"];

const seen: Call[] = [];
const unknownErrors: unknown[] = [];
let writes = 0;
let counted = 0;
let ended = 0;
let letGo: () => void = () => {};

const implementation: Implementation = implement(EchoService as GenService<EchoMethods>, {
  read: async (request, call) => {
    seen.push(call);
    return { text: request.text, numbers: request.numbers };
  },
  write: async (request) => {
    writes += 1;
    return { text: request.text };
  },
  fail: async (request) => {
    if (request.text === "unknown") throw new Error("secret inner text");
    throw new AppError("run_search_invalid", "unknown status", { field: "q", position: 3, retryAfterSeconds: 7 });
  },
  hang: () => new Promise((resolve) => (letGo = () => resolve({ text: "late" }))),
  count: async function* (request, call) {
    seen.push(call);
    try {
      for (const number of request.numbers) {
        counted += 1;
        yield { text: request.text, numbers: [number] };
      }
      if (request.text === "fail") throw new AppError("not_found", "run not found", { field: "run_id" });
      if (request.text === "unknown") throw new Error("secret inner text");
      if (request.text === "hang") await new Promise<void>((resolve) => (letGo = resolve));
    } finally {
      ended += 1;
    }
  },
});

let server: Server;
let rpc: UnaryServer;
let peer: Peer;
let url = "";

async function listen(unary: UnaryServer, port = 0): Promise<Server> {
  const made = createServer((request, response) => {
    if (!unary.handle(request, response)) response.writeHead(404).end();
  });
  await new Promise<void>((resolve) => made.listen(port, "127.0.0.1", resolve));
  return made;
}
const portOf = (of: Server): number => (of.address() as { port: number }).port;
const close = (of: Server): Promise<void> =>
  new Promise((resolve) => {
    of.close(() => resolve());
    of.closeAllConnections();
  });

beforeAll(async () => {
  rpc = createUnaryServer([implementation], { onUnknownError: (error) => unknownErrors.push(error) });
  server = await listen(rpc);
  url = `http://127.0.0.1:${portOf(server)}`;
  peer = connectPeer(url);
});
afterAll(async () => {
  await peer.close();
  await close(server);
});

const clients: [string, () => Client<EchoMethods>][] = [
  ["in the process", () => createLocalClient(EchoService as GenService<EchoMethods>, implementation)],
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
    const before = { counted, ended };
    const numbers = Array.from({ length: 5000 }, (_, i) => i);
    for await (const {
      numbers: [number],
    } of make().count({ text: "x".repeat(100_000), numbers }, createCall())) {
      if (number === 3) break;
    }
    await until("the end of the stream", () => ended === before.ended + 1);
    // What fits into the buffers of a connection is sent ahead.
    expect(counted - before.counted).toBeLessThan(numbers.length / 2);
  });

  test("is told after the deadline of a stream that it is over", async () => {
    const before = ended;
    const read = () => Array.fromAsync(make().count({ text: "hang" }, createCall({ timeoutMs: 50 })));
    await expect(read()).rejects.toMatchObject({ reason: "deadline_exceeded" });
    letGo();
    await until("the end of the stream", () => ended === before + 1);
  });

  test("may have a stream for longer than an answer", async () => {
    const call = createCall({ timeoutMs: 3_600_000 });
    await Array.fromAsync(make().count({}, call));
    expect(Math.abs(seen.at(-1)!.deadlineMs - call.deadlineMs)).toBeLessThan(1000);
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
    const got = seen.at(-1);
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
    letGo();
  });

  test("takes a deadline with a fraction of a millisecond", async () => {
    const call = { ...createCall(), deadlineMs: Date.now() + 5000.25 };
    await expect(make().write({ text: "x" }, call)).resolves.toMatchObject({ text: "x" });
  });

  test("does not call at all when the deadline has passed", async () => {
    const call = createCall({ timeoutMs: -1 });
    await expect(make().read({}, call)).rejects.toMatchObject({ reason: "deadline_exceeded" });
    // Calls of other tests that were given up may still arrive.
    expect(seen.map(({ requestId }) => requestId)).not.toContain(call.requestId);
  });
});

describe("the network client", () => {
  test("never shows the text of an unknown error, but the server logs it", async () => {
    const client = peer.client(EchoService);
    await expect(client.fail({ text: "unknown" }, createCall())).rejects.toMatchObject({
      reason: "internal",
      message: "internal error",
    });
    expect(String(unknownErrors.at(-1))).toContain("secret inner text");
  });

  test("repeats a request that was refused before a handler saw it, also a write", async () => {
    const refusing = createUnaryServer([implementation]);
    refusing.refuse();
    const first = await listen(refusing);
    const port = portOf(first);
    const other = connectPeer(`http://127.0.0.1:${port}`);
    const before = writes;
    const answer = other.client(EchoService).write({ text: "once" }, createCall());
    await close(first);
    const second = await listen(createUnaryServer([implementation]), port);
    await expect(answer).resolves.toMatchObject({ text: "once" });
    expect(writes - before).toBe(1);
    await other.close();
    await close(second);
  });

  test("waits for a peer that is not there yet, at most until the deadline", async () => {
    const nobody = connectPeer("http://127.0.0.1:1");
    await expect(
      nobody.client(EchoService as GenService<EchoMethods>).write({}, createCall({ timeoutMs: 300 })),
    ).rejects.toMatchObject({ reason: "service_unavailable", retryAfterSeconds: 1 });
    await nobody.close();
  });

  test.each([
    ["a read is repeated when its connection breaks", "read", true],
    ["a write is not, because it may have had its effect", "write", false],
  ] as const)("%s", async (_name, method, repeated) => {
    let requests = 0;
    const breaking = createServer((request, response) => {
      requests += 1;
      if (requests === 1) {
        request.socket.destroy();
        return;
      }
      rpc.handle(request, response);
    });
    await new Promise<void>((resolve) => breaking.listen(0, "127.0.0.1", resolve));
    const other = connectPeer(`http://127.0.0.1:${portOf(breaking)}`);
    const answer = other.client(EchoService)[method]({ text: "x" }, createCall());
    if (repeated) await expect(answer).resolves.toMatchObject({ text: "x" });
    else await expect(answer).rejects.toMatchObject({ reason: "service_unavailable" });
    expect(requests).toBe(repeated ? 2 : 1);
    await other.close();
    await close(breaking);
  });

  test("the bytes of an answer are held before they are read, and given back", async () => {
    const held: number[] = [];
    const numbers = Array.from({ length: 20_000 }, (_, i) => i);
    const call = createCall({ hold: (bytes) => void held.push(bytes) });
    expect((await peer.client(EchoService).read({ text: "", numbers }, call)).numbers).toHaveLength(20_000);
    expect(held).toEqual([held[0], -held[0]!]);
    expect(held[0]).toBeGreaterThan(100_000);
  });

  test("an answer for which there is no room is not read, and its connection keeps no one waiting", async () => {
    const refusal = new AppError("service_unavailable", "no room");
    const call = () =>
      createCall({
        hold: (bytes) => {
          if (bytes > 0) throw refusal;
        },
      });
    const ask = () => peer.client(EchoService).read({ text: "x".repeat(1_000_000) }, call());
    const asked = Array.from({ length: 100 }, () => ask().catch((error: unknown) => error));
    expect(new Set(await Promise.all(asked))).toEqual(new Set([refusal]));
    expect((await peer.client(EchoService).read({ text: "next" }, createCall())).text).toBe("next");
  });

  test("a peer that does not speak our protocol is unavailable", async () => {
    const odd = createServer((_request, response) => response.writeHead(502).end("<html>bad gateway</html>"));
    await new Promise<void>((resolve) => odd.listen(0, "127.0.0.1", resolve));
    const other = connectPeer(`http://127.0.0.1:${portOf(odd)}`);
    await expect(other.client(EchoService as GenService<EchoMethods>).write({}, createCall())).rejects.toMatchObject({
      reason: "service_unavailable",
    });
    await other.close();
    await close(odd);
  });
});

test("a stream that its peer does not end is an error after what has arrived", async () => {
  const own = await listen(createUnaryServer([implementation]));
  const other = connectPeer(`http://127.0.0.1:${portOf(own)}`);
  const got: number[] = [];
  const read = async (): Promise<void> => {
    const call = createCall();
    for await (const { numbers } of other.client(EchoService).count({ text: "hang", numbers: [7] }, call)) {
      got.push(...numbers);
      own.closeAllConnections();
    }
  };
  await expect(read()).rejects.toMatchObject({ reason: "service_unavailable" });
  expect(got).toEqual([7]);
  letGo();
  await other.close();
  await close(own);
});

test("a peer without the token is not believed, one with it is", async () => {
  const guarded = await listen(createUnaryServer([implementation], { token: "s3cret" }));
  const address = `http://127.0.0.1:${portOf(guarded)}`;
  for (const token of [undefined, "wrong!", "s3cre"]) {
    const stranger = connectPeer(address, { token });
    await expect(stranger.client(EchoService as GenService<EchoMethods>).read({}, createCall())).rejects.toMatchObject({
      reason: "unauthenticated",
    });
    await stranger.close();
  }
  const known = connectPeer(address, { token: "s3cret" });
  await expect(
    known.client(EchoService as GenService<EchoMethods>).read({ text: "x" }, createCall()),
  ).resolves.toMatchObject({ text: "x" });
  await known.close();
  await close(guarded);
});

test("a service that lacks a handler is refused when the process starts", () => {
  const incomplete = { service: EchoService as unknown as GenService<GenServiceMethods>, handlers: {} };
  expect(() => createUnaryServer([incomplete])).toThrow("has no handler for read");
});

test("a stranger is refused before the body is read, and loses the connection", async () => {
  const guarded = await listen(createUnaryServer([implementation], { token: "s3cret" }));
  const accepted = new Promise<Socket>((resolve) => guarded.once("connection", resolve));
  const socket = connect(portOf(guarded), "127.0.0.1");
  socket.on("error", () => {});
  let received = "";
  socket.on("data", (bytes) => (received += bytes.toString()));
  const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()));
  const head = [
    `POST /${EchoService.typeName}/Write HTTP/1.1`,
    "host: x",
    "content-type: application/proto",
    `content-length: ${LARGE_BYTES}`,
    "tidemark-internal-token: wrong",
  ].join("\r\n");
  socket.write(`${head}\r\n\r\n`);
  // The answer comes although not one byte of the body has been sent.
  await until("the answer", () => received.includes("unauthenticated"));
  expect(received).toMatch(/^HTTP\/1\.1 401 [\s\S]*connection: close/i);
  for (let sent = 0; sent < LARGE_BYTES && !socket.destroyed; sent += 65_536) socket.write(Buffer.alloc(65_536));
  await closed;
  expect((await accepted).bytesRead).toBeLessThan(2 * 1024 * 1024);
  await close(guarded);
});
