import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { gzipSync } from "node:zlib";
import { echoRoutes } from "./echo-routes.fixture.ts";
import { parseAnswer, rawRequest } from "../http/raw-request.fixture.ts";
import { startApp, type TestApp } from "../app.fixture.ts";

let app: TestApp;
let authorization: string;
beforeAll(async () => {
  app = await startApp({ routes: echoRoutes });
  authorization = `Bearer ${app.addKey(["sdk:ingest"])}`;
});
afterAll(() => app.close());

async function post(path: string, body: string | Buffer | undefined, headers: Record<string, string> = {}) {
  const response = await fetch(`${app.url}${path}`, {
    method: "POST",
    headers: { authorization, "content-type": "application/json", ...headers },
    ...(body === undefined ? {} : { body: body as BodyInit }),
  });
  return {
    status: response.status,
    body: (await response.json()) as Record<string, unknown>,
    headers: response.headers,
  };
}
const gzip = { "content-encoding": "gzip" };
const bytes = (count: number): string => `{"a":"${"x".repeat(count - 8)}"}`;

describe("bodies that arrive", () => {
  test.each<[string, string | Buffer, Record<string, string>, unknown]>([
    ["plain", '{"a":1}', {}, { a: 1 }],
    ["with a charset", '{"a":"é"}', { "content-type": "application/json; charset=utf-8" }, { a: "é" }],
    ["compressed", gzipSync('{"a":1}'), gzip, { a: 1 }],
    ["compressed, in capitals", gzipSync('{"a":1}'), { "content-encoding": "GZIP" }, { a: 1 }],
    ["not compressed, and saying so", '{"a":1}', { "content-encoding": "identity" }, { a: 1 }],
    ["as large as allowed", bytes(1000), {}, JSON.parse(bytes(1000))],
    ["compressed, as large as allowed", gzipSync(bytes(1000)), gzip, JSON.parse(bytes(1000))],
  ])("%s", async (_, body, headers, expected) => {
    expect(await post("/echo/1", body, headers)).toMatchObject({ status: 200, body: { body: expected } });
  });

  test.each(["", "text/plain", "text/plain; application/json", ";application/json", "application/jsonx"])(
    "of the type %j are refused",
    async (type) => {
      const answer = await post("/echo/1", '{"a":1}', { "content-type": type });
      expect(answer).toMatchObject({ status: 400, body: { error: "the content type must be application/json" } });
    },
  );

  test("digits beyond 2^53 reach the codec and are returned", async () => {
    const response = await fetch(`${app.url}/echo/1`, {
      method: "POST",
      headers: { authorization, "content-type": "application/json" },
      body: '{"seed":12345678901234567890}',
    });
    expect(await response.text()).toBe('{"body":{"seed":12345678901234567890},"key":null}');
  });

  test("in chunks", async () => {
    const answer = await rawRequest(
      app.port,
      `POST /echo/1 HTTP/1.1\r\nHost: x\r\nAuthorization: ${authorization}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n`,
      '4\r\n{"a"\r\n',
      "3\r\n:1}\r\n0\r\n\r\n",
    );
    expect(parseAnswer(answer)).toMatchObject({ status: 200, body: { body: { a: 1 } } });
  });
});

test.each([
  ["plain", 200_000, {}, (text: string) => text],
  ["compressed", 300_000, gzip, (text: string) => gzipSync(text)],
])("large ones that arrive together, %s, do not mix", async (_, length, headers, encode) => {
  const texts = Array.from({ length: 8 }, (_unused, index) =>
    JSON.stringify({ a: String.fromCharCode(97 + index).repeat(length - index) }),
  );
  const answers = await Promise.all(
    texts.map((text) => post("/optional", encode(text), { "idempotency-key": "k", ...headers })),
  );
  expect(answers.map(({ body }) => JSON.stringify(body["body"]) === texts.shift())).toEqual(Array(8).fill(true));
});

describe("bodies that need not arrive", () => {
  test.each<[string, string, string | undefined, Record<string, string>]>([
    ["an optional body is left out", "/optional", undefined, {}],
    ["an optional body is left out by a client that names no type", "/optional", undefined, { "content-type": "" }],
    ["a route without a body gets none", "/bodyless", undefined, {}],
    ["a route without a body gets one of any type", "/bodyless", "<a/>", { "content-type": "text/xml" }],
    ["a route without a body gets no JSON", "/bodyless", "{", {}],
    ["a route without a body gets a large one", "/bodyless", "x".repeat(2_000_000), {}],
    ["a route without a body gets what claims to be compressed", "/bodyless", "x", gzip],
  ])("%s", async (_, path, body, headers) => {
    expect(await post(path, body, { "idempotency-key": "k", ...headers })).toMatchObject({
      status: 200,
      body: { body: {} },
    });
  });

  test("an optional body that is sent is read", async () => {
    expect((await post("/optional", '{"a":1}', { "idempotency-key": "k" })).body).toEqual({ body: { a: 1 } });
  });

  test.each(["GET", "DELETE"])("%s with a content type and no body", async (method) => {
    const session = app.addSession("owner");
    const response = await fetch(`${app.url}${method === "GET" ? "/echo/1" : "/session-only"}`, {
      method,
      headers: { cookie: `tidemark_session=${session}`, origin: app.url, "content-type": "application/json" },
    });
    expect(response.status).toBe(200);
  });
});

describe("400", () => {
  test.each<[string, string | Buffer | undefined, Record<string, string>, string]>([
    ["another content type", "{}", { "content-type": "text/plain" }, "the content type must be application/json"],
    [
      "a form",
      "a=1",
      { "content-type": "application/x-www-form-urlencoded" },
      "the content type must be application/json",
    ],
    ["a missing body", undefined, {}, "the body must be a JSON object"],
    ["it claims gzip and is not", "{}", gzip, "the body is not valid gzip"],
    ["gzip that is cut off", gzipSync(bytes(500)).subarray(0, 20), gzip, "the body is not valid gzip"],
    ["another encoding", "{}", { "content-encoding": "br" }, "the content encoding must be gzip or none"],
    ["two encodings", "{}", { "content-encoding": "gzip, gzip" }, "the content encoding must be gzip or none"],
    ["white space up to the limit", " ".repeat(1000), {}, "the body is not valid JSON"],
  ])("%s", async (_, body, headers, error) => {
    expect(await post("/echo/1", body, headers)).toMatchObject({ status: 400, body: { error } });
  });

  test("a body whose sender leaves does not crash the process", async () => {
    const head = `POST /echo/1 HTTP/1.1\r\nHost: x\r\nAuthorization: ${authorization}\r\nContent-Type: application/json\r\nContent-Length: 500\r\n\r\n`;
    const { connect } = await import("node:net");
    const socket = connect({ host: "127.0.0.1", port: app.port });
    await new Promise<void>((resolve) => socket.write(`${head}{"a"`, () => resolve()));
    socket.destroy();
    expect((await post("/echo/1", "{}")).status).toBe(200);
  });
});

describe("413", () => {
  const large = "the body must have at most 1000 bytes";
  test.each<[string, string | Buffer, Record<string, string>]>([
    ["one byte too many", bytes(1001), {}],
    ["one byte too many, after decompression", gzipSync(bytes(1001)), gzip],
    ["a gzip bomb", gzipSync(Buffer.alloc(20_000_000)), gzip],
    ["a small gzip bomb", gzipSync(Buffer.alloc(1_000_000)), gzip],
    ["white space", " ".repeat(1001), {}],
    ["two megabytes", "x".repeat(2_000_000), {}],
  ])("%s", async (_, body, headers) => {
    expect(await post("/echo/1", body, headers)).toMatchObject({ status: 413, body: { error: large } });
  });

  test("in chunks, without a length; the connection stays open", async () => {
    const head = `POST /echo/1 HTTP/1.1\r\nHost: x\r\nAuthorization: ${authorization}\r\nContent-Type: application/json\r\n`;
    const answer = await rawRequest(
      app.port,
      `${head}Transfer-Encoding: chunked\r\n\r\n`,
      `800\r\n${"x".repeat(0x800)}\r\n`,
      "0\r\n\r\n",
      `${head}Content-Length: 2\r\nConnection: close\r\n\r\n{}`,
    );
    expect(answer.split("HTTP/1.1 ").map((part) => part.slice(0, 3))).toEqual(["", "413", "200"]);
  });
});

test.each([
  ["8 KiB", 8192, 200],
  ["a byte more", 8193, 413],
])("a caller without credentials may send %s", async (_, length, status) => {
  const headers = { "content-type": "application/json" };
  const response = await fetch(`${app.url}/tagged`, { method: "POST", headers, body: bytes(length) });
  expect(response.status).toBe(status);
});

test("a refusal before the body is read arrives although the client sends it all", async () => {
  const response = await fetch(`${app.url}/echo/1`, { method: "POST", body: "x".repeat(5_000_000) });
  expect(response.status).toBe(401);
});

test("the credentials are checked before the body is looked at", async () => {
  const response = await fetch(`${app.url}/echo/1`, {
    method: "POST",
    body: "{",
    headers: { "content-type": "text/plain" },
  });
  expect(response.status).toBe(401);
});

describe("idempotency keys", () => {
  test("a key reaches the codec, and a stored answer says that it is one", async () => {
    const first = await post("/echo/1", "{}", { "idempotency-key": " abc " });
    expect([first.body.key, first.headers.get("idempotency-replayed")]).toEqual(["abc", null]);
    const again = await post("/echo/1", "{}", { "idempotency-key": "again" });
    expect(again.headers.get("idempotency-replayed")).toBe("true");
    expect(again.headers.get("cache-control")).toBe("private, no-store");
  });

  test.each([
    ["256 characters", "/echo/1", { "idempotency-key": "k".repeat(256) }],
    ["none where one is required", "/optional", {}],
  ])("%s: 400", async (_, path, headers: Record<string, string>) => {
    expect(await post(path, "{}", headers)).toMatchObject({ status: 400, body: { field: "idempotency-key" } });
  });
});
