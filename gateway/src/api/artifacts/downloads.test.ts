import { randomBytes, randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import type { Blob } from "@tidemark/blob";
import { AppError } from "@tidemark/errors";
import { until } from "@tidemark/testkit";
import { orgId, startApp, type TestApp } from "../../app.fixture.ts";
import { artifactsRoutes } from "./routes.ts";
import { createTestArtifacts, createTestStore, type Memory } from "./transfers.fixture.ts";

const content = randomBytes(300_000);

let directory = "";
let store: Blob;
let app: TestApp;
let memory: Memory;
let authorization = "";
/** What the store does instead of reading. */
let get: Blob["get"] | undefined;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "tidemark-gateway-"));
  store = createTestStore(directory);
  const service = createTestArtifacts();
  memory = service.memory;
  const objects: Blob = {
    ...store,
    get: (key, range) => (get === undefined ? store.get(key, range) : get(key, range)),
  };
  app = await startApp({
    routes: artifactsRoutes,
    settings: { stallMs: 500 },
    options: { clients: service.clients, objects },
  });
  authorization = `Bearer ${app.addKey(["export:read"])}`;
});
afterAll(async () => {
  await app.close();
  await rm(directory, { recursive: true });
});

/** Makes a file of the service; its bytes are in the store unless `bytes` is left out. */
async function fileOf(bytes: Buffer | undefined, facts: { name?: string; mimeType?: string; size?: number } = {}) {
  const [id, objectId] = [randomUUID(), randomUUID()];
  if (bytes !== undefined) await store.put(store.keyOf(orgId, objectId), bytes);
  const { name = "dir/a.txt", mimeType = "text/plain", size = bytes?.length ?? 5 } = facts;
  memory.files.set(id, { objectId, sizeBytes: BigInt(size), mimeType, name });
  return id;
}
async function ask(id: string, headers: Record<string, string> = {}, method = "GET", family = "artifacts") {
  const response = await fetch(`${app.url}/api/${family}/${id}/download`, {
    method,
    headers: { authorization, ...headers },
  });
  return { status: response.status, headers: response.headers, bytes: Buffer.from(await response.arrayBuffer()) };
}

describe("a download", () => {
  test.each(["artifacts", "artifact-entries"])("of %s is the bytes, as a file", async (family) => {
    const answer = await ask(await fileOf(content), { "accept-encoding": "gzip" }, "GET", family);
    expect([answer.status, answer.bytes.equals(content)]).toEqual([200, true]);
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      "content-type": "text/plain",
      "content-length": "300000",
      "content-disposition": 'attachment; filename="a.txt"',
      "content-security-policy": "sandbox",
      "x-content-type-options": "nosniff",
      "accept-ranges": "bytes",
      "x-request-id": expect.any(String),
    });
    expect([answer.headers.get("content-encoding"), answer.headers.get("content-range")]).toEqual([null, null]);
  });

  test("of nothing is empty", async () => {
    const answer = await ask(await fileOf(Buffer.alloc(0)));
    expect([answer.status, answer.headers.get("content-length"), answer.bytes.length]).toEqual([200, "0", 0]);
  });

  test.each(["a\r\nx: y", "\u0000"])("with the name %j has safe headers", async (name) => {
    const answer = await ask(await fileOf(Buffer.from("hi"), { name, mimeType: name }));
    expect(answer.status).toBe(200);
    expect(answer.headers.get("content-disposition")).toMatch(
      /^attachment; filename="[A-Za-z0-9._-]{1,120}"(; filename\*=UTF-8''[A-Za-z0-9._%-]+)?$/,
    );
    expect([answer.headers.get("content-type"), answer.headers.get("x")]).toEqual(["application/octet-stream", null]);
  });

  test.each([["bytes=100000-", 100_000, 300_000]])("of %s is that part", async (range, start, end) => {
    const answer = await ask(await fileOf(content), { range });
    expect([answer.status, answer.headers.get("content-range"), answer.headers.get("content-length")]).toEqual([
      206,
      `bytes ${start}-${end - 1}/300000`,
      String(end - start),
    ]);
    expect(answer.bytes.equals(content.subarray(start, end))).toBe(true);
  });

  test("with a condition that cannot hold is the whole file", async () => {
    expect((await ask(await fileOf(content), { range: "bytes=0-1", "if-range": '"x"' })).status).toBe(200);
  });

  test.each(["bytes=300000-"])("of %s is refused", async (range) => {
    const answer = await ask(await fileOf(content), { range });
    expect([answer.status, answer.headers.get("content-range"), JSON.parse(answer.bytes.toString())]).toEqual([
      416,
      "bytes */300000",
      { error: "the range is not available: the file has 300000 bytes" },
    ]);
  });

  test("requested with HEAD has the headers alone", async () => {
    const id = await fileOf(content);
    const whole = await ask(id, {}, "HEAD");
    expect([whole.status, whole.headers.get("content-length"), whole.bytes.length]).toEqual([200, "300000", 0]);
    const part = await ask(id, { range: "bytes=1-2" }, "HEAD");
    expect([part.status, part.headers.get("content-range")]).toEqual([206, "bytes 1-2/300000"]);
    expect((await ask(await fileOf(undefined), {}, "HEAD")).status).toBe(404);
  });
});

describe("missing files", () => {
  test("an unknown artifact, lost bytes and bytes of another length are 404", async () => {
    expect((await ask(randomUUID())).status).toBe(404);
    expect((await ask(await fileOf(undefined))).status).toBe(404);
    expect((await ask(await fileOf(Buffer.from("hi"), { size: 3 }))).status).toBe(404);
  });
});

describe("a store that fails", () => {
  afterAll(() => (get = undefined));
  const down = new AppError("service_unavailable", "down", { retryAfterSeconds: 1 });

  test("before the first byte: 503", async () => {
    const id = await fileOf(content);
    get = () => Promise.reject(down);
    const answer = await ask(id);
    expect([answer.status, answer.headers.get("retry-after")]).toEqual([503, "1"]);
    get = async () => ({
      sizeBytes: content.length,
      // eslint-disable-next-line require-yield -- fails at the first read
      body: (async function* fail(): AsyncGenerator<Uint8Array> {
        throw down;
      })(),
    });
    expect((await ask(id)).status).toBe(503);
  });

  test.each<[string, () => AsyncGenerator<Uint8Array>]>([
    [
      "fails later",
      async function* fail() {
        yield content.subarray(0, 1000);
        throw down;
      },
    ],
    [
      "has too few bytes",
      async function* short() {
        yield content.subarray(0, 1000);
      },
    ],
  ])("and %s: the answer ends early", async (_, body) => {
    const id = await fileOf(content);
    get = async () => ({ sizeBytes: content.length, body: body() });
    await expect(ask(id)).rejects.toThrow(/terminated|fetch failed/);
  });
});

test("a reader that stalls holds a few pieces and is disconnected; the store is told to stop", async () => {
  const piece = Buffer.alloc(64 * 1024);
  const size = 1024 * piece.length * 16;
  let pieces = 0;
  let isClosed = false;
  const id = await fileOf(Buffer.alloc(0), { size });
  get = async () => ({
    sizeBytes: size,
    body: (async function* endless() {
      try {
        for (;;) {
          pieces += 1;
          yield piece;
        }
      } finally {
        isClosed = true;
      }
    })(),
  });
  const socket = connect({ host: "127.0.0.1", port: app.port });
  socket.on("error", () => undefined).pause();
  socket.write(`GET /api/artifacts/${id}/download HTTP/1.1\r\nHost: x\r\nAuthorization: ${authorization}\r\n\r\n`);
  await until("the reader is cut", () => isClosed, 30_000);
  // The system decides how much both ends of the connection buffer, but it is far from a gigabyte.
  expect(pieces * piece.length).toBeLessThan(64 * 1024 * 1024);
  socket.destroy();
  get = undefined;
});
