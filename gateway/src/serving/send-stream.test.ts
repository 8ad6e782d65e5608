import { connect } from "node:net";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import { AppError } from "@tidemark/errors";
import { until } from "@tidemark/testkit";
import { startApp, type TestApp } from "../app.fixture.ts";
import type { Route } from "../route.ts";

let pieces: () => AsyncGenerator<Uint8Array> = async function* none() {};
let sizeBytes: number | undefined;
let hasEnded = false;

/** Notes when the pieces are given up. */
async function* noted(): AsyncGenerator<Uint8Array> {
  hasEnded = false;
  try {
    yield* pieces();
  } finally {
    hasEnded = true;
  }
}

const streaming: Route = {
  method: "GET",
  path: "/stream",
  tag: "test",
  summary: "Streams",
  rate: "none",
  idempotency: "none",
  schemas: { response: {} },
  statuses: [200],
  callers: { kind: "anyone" },
  handle: () => {
    const stream = { pieces: noted(), ...(sizeBytes === undefined ? {} : { sizeBytes }) };
    return Promise.resolve({ body: null, stream, headers: { "content-type": "text/plain", "x-more": "1" } });
  },
};

let app: TestApp;
beforeAll(async () => {
  app = await startApp({ routes: [streaming], settings: { stallMs: 500 } });
});
afterAll(() => app.close());
afterEach(() => {
  sizeBytes = undefined;
});

const ask = (encoding = "identity", method = "GET") =>
  fetch(`${app.url}/stream`, { method, headers: { "accept-encoding": encoding } });
async function* texts(...all: string[]): AsyncGenerator<Uint8Array> {
  for (const text of all) yield Buffer.from(text);
}

describe("a stream", () => {
  test("arrives piece by piece, with its headers", async () => {
    pieces = () => texts("a", "", "b");
    const answer = await ask();
    expect([answer.status, await answer.text()]).toEqual([200, "ab"]);
    const headers = Object.fromEntries(answer.headers);
    expect(headers).toMatchObject({ "content-type": "text/plain", "x-more": "1", vary: "Accept-Encoding" });
    expect(headers["x-request-id"]).toBeDefined();
    expect(headers["content-length"]).toBeUndefined();
  });

  test("of a known size names it", async () => {
    pieces = () => texts("ab");
    sizeBytes = 2;
    const answer = await ask();
    expect([answer.headers.get("content-length"), await answer.text()]).toEqual(["2", "ab"]);
  });

  test("of nothing is empty", async () => {
    pieces = () => texts();
    expect(await (await ask()).text()).toBe("");
  });

  test("is compressed when that is wanted", async () => {
    pieces = () => texts("a".repeat(100_000), "b");
    sizeBytes = 100_001;
    const answer = await ask("gzip");
    expect([answer.headers.get("content-encoding"), answer.headers.get("content-length")]).toEqual(["gzip", null]);
    expect(await answer.text()).toBe(`${"a".repeat(100_000)}b`);
  });

  test("requested with HEAD is given up, with its headers", async () => {
    pieces = () => texts("ab");
    sizeBytes = 2;
    const answer = await ask("identity", "HEAD");
    expect([answer.status, answer.headers.get("content-length"), await answer.text()]).toEqual([200, "2", ""]);
  });
});

describe("a stream that fails", () => {
  const down = new AppError("service_unavailable", "down", { retryAfterSeconds: 1 });

  test("before its first piece is answered with its error", async () => {
    // oxlint-disable-next-line require-yield -- fails immediately
    pieces = async function* fail() {
      throw down;
    };
    const answer = await ask();
    expect([answer.status, await answer.json()]).toMatchObject([503, { code: "service_unavailable" }]);
  });

  test.each(["identity", "gzip"])("later ends the connection early, with %s", async (encoding) => {
    pieces = async function* fail() {
      yield Buffer.from("a".repeat(1000));
      throw down;
    };
    await expect(ask(encoding).then((answer) => answer.text())).rejects.toThrow(/terminated|fetch failed/);
    expect(hasEnded).toBe(true);
  });
});

test("a client that leaves ends the stream", async () => {
  pieces = async function* endless() {
    for (;;) yield Buffer.alloc(1000);
  };
  const { body } = await ask();
  const reader = body!.getReader();
  expect((await reader.read()).done).toBe(false);
  await reader.cancel();
  await until("the stream is given up", () => hasEnded);
});

test("a client that stalls holds a few pieces and is cut", async () => {
  let count = 0;
  const piece = Buffer.alloc(64 * 1024);
  pieces = async function* endless() {
    for (;;) {
      count += 1;
      yield piece;
    }
  };
  const socket = connect({ host: "127.0.0.1", port: app.port });
  socket.on("error", () => undefined).pause();
  socket.write("GET /stream HTTP/1.1\r\nHost: x\r\n\r\n");
  await until("the client is cut", () => count > 0 && hasEnded);
  // The system decides how much both ends of the connection buffer.
  expect(count * piece.length).toBeLessThan(64 * 1024 * 1024);
  socket.destroy();
});
