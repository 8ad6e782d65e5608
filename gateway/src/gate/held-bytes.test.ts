import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { gzipSync } from "node:zlib";
import { until } from "@tidemark/testkit";
import type { Route } from "../route.ts";
import { startApp, type TestApp } from "../app.fixture.ts";
import { holdRequest, type HeldRequest } from "../http/raw-request.fixture.ts";

const facts = {
  tag: "test",
  rate: "general",
  idempotency: "none",
  schemas: { response: { type: "object" } },
  statuses: [200],
  callers: { kind: "credentials", key: { scopes: [] }, session: { refused: 403 } },
} as const;

const take: Route = {
  ...facts,
  method: "POST",
  path: "/take",
  summary: "Takes a large body",
  body: "required",
  bodyBytesMax: 1_000_000,
  handle: ({ body }) => Promise.resolve({ body: { length: (body["a"] as string).length } }),
};

/** Answers with this many bytes. */
const give: Route = {
  ...facts,
  method: "GET",
  path: "/give/{bytes}",
  summary: "Gives a large answer",
  handle: ({ params }) => Promise.resolve({ body: { text: "x".repeat(Number(params["bytes"])) } }),
};

/** Does something, and answers with this many bytes. */
const write: Route = { ...give, method: "POST", path: "/write/{bytes}", idempotency: "optional" };

let app: TestApp;
let authorization: string;
beforeAll(async () => {
  app = await startApp({
    routes: [take, give, write],
    settings: { bodyBytesHeldMax: 300_000, readPace: { graceMs: 3000, bytesPerSecond: 1_000_000_000 } },
  });
  authorization = `Bearer ${app.addKey([])}`;
});
afterAll(() => app.close());

const bodyOf = (length: number): string => JSON.stringify({ a: "x".repeat(length - 8) });

async function post(body: string | Buffer, headers: Record<string, string> = {}) {
  const response = await fetch(`${app.url}/take`, {
    method: "POST",
    headers: { authorization, "content-type": "application/json", ...headers },
    body: body as BodyInit,
  });
  const { status } = response;
  return { status, retryAfter: response.headers.get("retry-after"), body: await response.json() };
}

/** Returns a request whose first half the gateway holds, while the client keeps the rest. */
function begin(body: string): Promise<HeldRequest> {
  const head = `POST /take HTTP/1.1\r\nHost: x\r\nAuthorization: ${authorization}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n`;
  return until("the first half of a body to be held", async () => {
    const held = await holdRequest(app, head + body, body.length / 2);
    // The request before it may not have given back what it held.
    return held.answer() === "" ? held : undefined;
  });
}

/** Asks until an answer has this status. */
function untilStatus(status: number, ask: () => ReturnType<typeof post>): ReturnType<typeof post> {
  return until(`an answer with ${status}`, async () => {
    const answer = await ask();
    return answer.status === status ? answer : undefined;
  });
}

test("while one large body is held, another is told to retry, and a small one is served", async () => {
  const slow = await begin(bodyOf(400_000));
  const refused = await post(bodyOf(200_000));
  expect(refused).toEqual({
    status: 503,
    retryAfter: "1",
    body: { error: expect.any(String), code: "service_unavailable" },
  });
  expect((await post(bodyOf(1000))).status).toBe(200);
  expect(await slow.finish()).toMatch(/^HTTP\/1.1 200 /);
  await untilStatus(200, () => post(bodyOf(200_000)));
});

test("a compressed body counts with what it becomes", async () => {
  const slow = await begin(bodyOf(400_000));
  const compressed = () => post(gzipSync(bodyOf(200_000)), { "content-encoding": "gzip" });
  expect(await compressed()).toMatchObject({ status: 503, retryAfter: "1" });
  slow.socket.destroy();
  expect(await untilStatus(200, compressed)).toMatchObject({ body: { length: 199_992 } });
});

test("a client that disconnects gives back what it held", async () => {
  const slow = await begin(bodyOf(400_000));
  expect((await post(bodyOf(200_000))).status).toBe(503);
  slow.socket.destroy();
  const answer = await untilStatus(200, () => post(bodyOf(200_000)));
  expect(answer.body).toEqual({ length: 199_992 });
});

test("a body alone may be larger than all bodies together", async () => {
  expect(await post(bodyOf(900_000))).toMatchObject({ status: 200, body: { length: 899_992 } });
});

test("a compressed body is charged with what it becomes before there is any of it", async () => {
  const slow = await begin(bodyOf(400_000));
  // Its last bytes promise 900,000; decompressing it would be refused as not gzip.
  const length = Buffer.alloc(4);
  length.writeUInt32LE(900_000);
  const broken = Buffer.concat([Buffer.alloc(100), length]);
  expect(await post(broken, { "content-encoding": "gzip" })).toMatchObject({ status: 503 });
  slow.socket.destroy();
  await untilStatus(400, () => post(broken, { "content-encoding": "gzip" }));
});

test("several compressed members in a row are one body", async () => {
  const text = bodyOf(400_000);
  const members = Buffer.concat([gzipSync(text.slice(0, 300_000)), gzipSync(text.slice(300_000))]);
  const answer = await post(members, { "content-encoding": "gzip" });
  expect(answer).toMatchObject({ status: 200, body: { length: 399_992 } });
});

const ask = async (path: string, method = "GET"): Promise<number> => {
  const response = await fetch(`${app.url}${path}`, {
    method,
    headers: { authorization, "accept-encoding": "identity" },
  });
  await response.arrayBuffer();
  return response.status;
};

/** Asks for an answer that is more than the buffers of the system take, which may grow to 36 MiB, and reads nothing of it. */
function askSlowly(): Socket {
  const slow = connect(app.port, "127.0.0.1");
  slow.on("error", () => undefined).pause();
  slow.write(`GET /give/80000000 HTTP/1.1\r\nHost: x\r\nAuthorization: ${authorization}\r\nConnection: close\r\n\r\n`);
  return slow;
}

test("while a large answer is on its way to a slow client, another is told to retry, and a small one is sent", async () => {
  const slow = askSlowly();
  await until("an answer to wait", async () => (await ask("/give/200000")) === 503);
  expect(await ask("/give/1000")).toBe(200);
  // It has been done.
  expect(await ask("/write/200000", "POST")).toBe(200);
  slow.destroy();
  await until("room for an answer", async () => (await ask("/give/200000")) === 200);
});

test("a client that takes less of a large answer than the pace is cut", async () => {
  const slow = askSlowly();
  await until("an answer to wait", async () => (await ask("/give/200000")) === 503);
  await until("room for an answer", async () => (await ask("/give/200000")) === 200);
  slow.resume();
  let bytes = 0;
  slow.on("data", (data: Buffer) => (bytes += data.length));
  await once(slow, "close");
  expect(bytes).toBeLessThan(80_000_000);
});
