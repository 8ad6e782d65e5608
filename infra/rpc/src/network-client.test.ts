import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import type { GenService, GenServiceMethods } from "@bufbuild/protobuf/codegenv2";
import { AppError } from "@tidemark/errors";
import { EchoService } from "@tidemark/proto/testing/v1/echo";
import { until } from "@tidemark/testkit";
import { createServer, type Server } from "node:http";
import { connect, type Socket } from "node:net";
import { createCall } from "./call.ts";
import { close, createEcho, listen, portOf, type EchoMethods } from "./echo.fixture.ts";
import { connectPeer, type Peer } from "./network-client.ts";
import { createUnaryServer, type UnaryServer } from "./unary-server.ts";

/** The bytes of a body that a stranger announces. */
const LARGE_BYTES = 64 * 1024 * 1024;

const echo = createEcho();
const unknownErrors: unknown[] = [];
let server: Server;
let rpc: UnaryServer;
let peer: Peer;

beforeAll(async () => {
  rpc = createUnaryServer([echo.implementation], { onUnknownError: (error) => unknownErrors.push(error) });
  server = await listen(rpc);
  peer = connectPeer(`http://127.0.0.1:${portOf(server)}`);
});
afterAll(async () => {
  await peer.close();
  await close(server);
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
    const refusing = createUnaryServer([echo.implementation]);
    refusing.refuse();
    const first = await listen(refusing);
    const port = portOf(first);
    const other = connectPeer(`http://127.0.0.1:${port}`);
    const before = echo.writes;
    const answer = other.client(EchoService).write({ text: "once" }, createCall());
    await close(first);
    const second = await listen(createUnaryServer([echo.implementation]), port);
    await expect(answer).resolves.toMatchObject({ text: "once" });
    expect(echo.writes - before).toBe(1);
    await other.close();
    await close(second);
  });

  test("waits for a peer that is not there yet, at most until the deadline", async () => {
    const unreachable = connectPeer("http://127.0.0.1:1");
    await expect(
      unreachable.client(EchoService as GenService<EchoMethods>).write({}, createCall({ timeoutMs: 300 })),
    ).rejects.toMatchObject({ reason: "service_unavailable", retryAfterSeconds: 1 });
    await unreachable.close();
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

  test("the bytes of an answer that breaks off are given back, and held again when it is repeated", async () => {
    let requests = 0;
    const breaking = createServer((request, response) => {
      requests += 1;
      if (requests > 1) rpc.handle(request, response);
      else response.writeHead(200, { "content-length": 1000 }).write("x", () => response.destroy());
    });
    await new Promise<void>((resolve) => breaking.listen(0, "127.0.0.1", resolve));
    const other = connectPeer(`http://127.0.0.1:${portOf(breaking)}`);
    const held: number[] = [];
    const call = createCall({ hold: (bytes) => void held.push(bytes) });
    expect((await other.client(EchoService).read({ text: "x" }, call)).text).toBe("x");
    expect(held).toEqual([1000, -1000, 3, -3]);
    await other.close();
    await close(breaking);
  });

  test("an answer without room is not read, and does not block its connection", async () => {
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
  const own = await listen(createUnaryServer([echo.implementation]));
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
  echo.letGo();
  await other.close();
  await close(own);
});

test("a peer without the token is not believed, one with it is", async () => {
  const guarded = await listen(createUnaryServer([echo.implementation], { token: "s3cret" }));
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
  const guarded = await listen(createUnaryServer([echo.implementation], { token: "s3cret" }));
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
  // The answer arrives although not one byte of the body has been sent.
  await until("the answer", () => received.includes("unauthenticated"));
  expect(received).toMatch(/^HTTP\/1\.1 401 [\s\S]*connection: close/i);
  for (let sent = 0; sent < LARGE_BYTES && !socket.destroyed; sent += 65_536) socket.write(Buffer.alloc(65_536));
  await closed;
  expect((await accepted).bytesRead).toBeLessThan(2 * 1024 * 1024);
  await close(guarded);
});
