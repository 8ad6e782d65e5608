import { once } from "node:events";
import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import type { Json } from "../http/json.ts";
import { echoRoutes, failingRoute, workRoute } from "./echo-routes.fixture.ts";
import { parseAnswer, rawRequest } from "../http/raw-request.fixture.ts";
import { startApp, type TestApp } from "../app.fixture.ts";

// One file, because all cases share one listening server.

let app: TestApp;
let authorization: string;
const work: { run: () => Promise<Json> } = { run: () => Promise.resolve({}) };
beforeAll(async () => {
  app = await startApp({
    routes: [
      ...echoRoutes,
      workRoute(() => work.run()),
      failingRoute("warehouse_unavailable"),
      failingRoute("idempotency_in_progress", { retryAfterSeconds: 1 }),
    ],
  });
  authorization = `Bearer ${app.addKey(["export:read", "sdk:ingest"])}`;
});
afterAll(() => app.close());

async function ask(method: string, path: string, headers: Record<string, string> = {}) {
  const response = await fetch(`${app.url}${path}`, { method, headers });
  return { status: response.status, text: await response.text(), headers: response.headers };
}
const get = (path: string, headers: Record<string, string> = {}) => ask("GET", path, { authorization, ...headers });
const uuid = /^[0-9a-f-]{36}$/;

describe("404", () => {
  test.each([
    ["an unknown path", "/nowhere"],
    ["a trailing slash", "/echo/1/"],
    ["an empty part of a path", "/echo/"],
    ["another letter case", "/Echo/1"],
    ["a doubled slash", "//echo/1"],
    ["too long a part of a path", `/echo/${"x".repeat(3000)}`],
    ["NUL in a path", "/echo/%00"],
  ])("%s", async (_, path) => {
    const answer = await get(path);
    expect([answer.status, JSON.parse(answer.text)]).toEqual([404, { error: "route not found" }]);
    expect(answer.headers.get("x-request-id")).toMatch(uuid);
  });

  test("no credentials are required, and no content type is judged", async () => {
    const response = await fetch(`${app.url}/nowhere`, {
      method: "POST",
      body: "{",
      headers: { "content-type": ";;" },
    });
    expect([response.status, await response.json()]).toEqual([404, { error: "route not found" }]);
  });

  test.each(["/echo/", "/echo/%00"])("%s asks for no credentials", async (path) => {
    expect((await ask("POST", path)).status).toBe(404);
  });

  test("an unknown path under an unusual method", async () => {
    expect((await ask("PROPFIND", "/nowhere")).status).toBe(404);
  });
});

describe("405", () => {
  test.each([
    ["POST", "/health", "GET, HEAD"],
    ["DELETE", "/echo/1", "GET, HEAD, POST"],
    ["GET", "/bodyless", "POST"],
    ["HEAD", "/bodyless", "POST"],
    ["PROPFIND", "/echo/1", "GET, HEAD, POST"],
    ["OPTIONS", "/health", "GET, HEAD"],
  ])("%s %s", async (method, path, allow) => {
    const answer = await ask(method, path);
    expect([answer.status, answer.headers.get("allow")]).toEqual([405, allow]);
    if (method !== "HEAD")
      expect(JSON.parse(answer.text)).toEqual({
        error: `method not allowed: it must be ${allow.replaceAll(", ", " or ")}`,
      });
  });
});

describe("400", () => {
  test.each([
    ["a parameter that is given twice", "/echo/1?a=1&a=2", { error: "the parameter a is given twice", field: "a" }],
    ["a bad escape in the query", "/echo/1?a=%zz", { error: "the parameter a has an invalid escape" }],
    ["a bad escape in the path", "/echo/%zz", { error: "the path has an invalid escape" }],
    ["bytes that are not UTF-8 in the path", "/echo/%ff", { error: "the path has an invalid escape" }],
  ])("%s", async (_, path, body) => {
    const answer = await get(path);
    expect([answer.status, JSON.parse(answer.text)]).toEqual([400, body]);
    expect(answer.headers.get("x-request-id")).toMatch(uuid);
  });
});

describe("the input of a codec", () => {
  test("unescaped parts of the path and the query, and where the client came", async () => {
    const answer = await get("/echo/a%2Fb?q=x%20y+z&blank=&project=%C3%A9");
    expect(JSON.parse(answer.text)).toMatchObject({
      params: { id: "a/b" },
      query: { q: "x y z", project: "é" },
      base_url: app.url,
    });
  });

  test("the host and scheme that a trusted proxy names", async () => {
    const behind = async (trustedProxies: string[], publicUrl?: string): Promise<unknown> => {
      const other = await startApp({ routes: echoRoutes, settings: { trustedProxies, publicUrl } });
      const response = await fetch(`${other.url}/echo/1`, {
        headers: {
          authorization: `Bearer ${other.addKey(["export:read"])}`,
          "x-forwarded-host": "tracker.example",
          "x-forwarded-proto": "https",
        },
      });
      const { base_url: baseUrl } = (await response.json()) as { base_url: string };
      await other.close();
      return baseUrl.replace(other.url, "itself");
    };
    expect(await behind(["127.0.0.0/8"])).toBe("https://tracker.example");
    expect(await behind([])).toBe("itself");
    expect(await behind(["127.0.0.0/8"], "https://configured.example/")).toBe("https://configured.example");
  });

  test("the remaining time of the request", async () => {
    let leftMs = 0;
    const route = workRoute(() => Promise.resolve({}), {
      handle: (_, __, call) => {
        leftMs = call.deadlineMs - Date.now();
        return Promise.resolve({ body: {} });
      },
    });
    const other = await startApp({ routes: [route], settings: { deadlineMs: 60_000 } });
    await fetch(`${other.url}/work`);
    await other.close();
    expect(leftMs).toBeGreaterThan(30_000);
    expect(leftMs).toBeLessThanOrEqual(60_000);
  });

  test.each([
    ["localhost", "http://localhost:8080", false],
    ["a name", "http://tracker.example", true],
  ])("cookies for %s", async (_, origin, secure) => {
    const host = new URL(origin).host;
    const answer = await rawRequest(
      app.port,
      `POST /sign-in HTTP/1.1\r\nHost: ${host}\r\nOrigin: ${origin}\r\nCookie: tidemark_session=tok\r\nConnection: close\r\n\r\n`,
    );
    expect(parseAnswer(answer)).toMatchObject({ status: 200, body: { secure, token: "tok" } });
    expect(answer).toContain("set-cookie: a=1");
  });
});

describe("HEAD", () => {
  test("answers as GET, without the body", async () => {
    const [head, full] = [await ask("HEAD", "/echo/1", { authorization }), await get("/echo/1")];
    expect([head.status, head.text]).toEqual([200, ""]);
    expect(head.headers.get("content-length")).toBe(String(Buffer.byteLength(full.text)));
  });

  test("asks for the same credentials", async () => {
    const answer = await ask("HEAD", "/echo/1");
    expect([answer.status, answer.text]).toEqual([401, ""]);
  });
});

describe("pages from other origins", () => {
  const preflight = (origin: string, path = "/echo/1") =>
    ask("OPTIONS", path, {
      origin,
      "access-control-request-method": "POST",
      "access-control-request-headers": "authorization",
    });

  test("a preflight request from an allowed origin", async () => {
    const answer = await preflight("https://app.example");
    expect(answer.status).toBe(204);
    expect(answer.text).toBe("");
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      "access-control-allow-origin": "https://app.example",
      "access-control-allow-credentials": "true",
      "access-control-allow-methods": "GET, HEAD, POST",
      "access-control-allow-headers":
        "accept, authorization, content-encoding, content-type, idempotency-key, if-none-match, range, x-svc-bootstrap-token, x-instantml-bootstrap-token, x-request-id, x-tidemark-run-id",
      vary: "Origin",
    });
  });

  test("a preflight request from another origin", async () => {
    const answer = await preflight("https://evil.test");
    expect([answer.status, answer.headers.get("access-control-allow-origin")]).toEqual([405, null]);
  });

  test("a preflight request for an unknown path", async () => {
    expect((await preflight("https://app.example", "/nowhere")).status).toBe(404);
  });

  test.each([
    ["good answers", "/echo/1", 200],
    ["refusals", "/echo/1?a=1&a=1", 400],
    ["unknown paths", "/nowhere", 404],
  ])("%s may be read by allowed origins", async (_, path, status) => {
    const answer = await get(path, { origin: "https://app.example" });
    expect([answer.status, answer.headers.get("access-control-allow-origin"), answer.headers.get("vary")]).toEqual([
      status,
      "https://app.example",
      "Origin",
    ]);
    const exposed = answer.headers.get("access-control-expose-headers")?.split(", ");
    expect(exposed).toEqual(expect.arrayContaining(["etag", "x-request-id", "idempotency-replayed", "retry-after"]));
  });

  test("answers may not be read by other origins", async () => {
    const answer = await get("/echo/1", { origin: "https://evil.test" });
    expect([answer.status, answer.headers.get("access-control-allow-origin")]).toEqual([200, null]);
  });
});

describe("request ids", () => {
  test("a good one is kept, on refusals as well", async () => {
    for (const path of ["/echo/1", "/nowhere", "/echo/1?a=1&a=1", "/echo/%zz", "/fails/warehouse_unavailable"]) {
      expect((await get(path, { "x-request-id": "run:7._-A" })).headers.get("x-request-id")).toBe("run:7._-A");
    }
  });
});

describe("errors of the services", () => {
  test.each([
    [
      "warehouse_unavailable",
      503,
      "1",
      { error: "the data store is not available at the moment; try again", code: "warehouse_unavailable" },
    ],
    [
      "idempotency_in_progress",
      409,
      "1",
      { error: "text of idempotency_in_progress", code: "idempotency_in_progress" },
    ],
  ])("%s", async (reason, status, retryAfter, body) => {
    const answer = await get(`/fails/${reason}`);
    expect([answer.status, answer.headers.get("retry-after"), JSON.parse(answer.text)]).toEqual([
      status,
      retryAfter,
      body,
    ]);
  });

  test("an unexpected error is hidden from the client and logged with the request's id", async () => {
    work.run = () => Promise.reject(new TypeError("cannot read secret of undefined"));
    const answer = await get("/work", { "x-request-id": "find-me" });
    expect([answer.status, JSON.parse(answer.text)]).toEqual([500, { error: "internal error" }]);
    const line = app.logged.map((text) => JSON.parse(text)).find((entry) => entry.request_id === "find-me");
    expect(line).toMatchObject({ level: "error", error: { message: "cannot read secret of undefined" } });
  });
});

describe("compression", () => {
  test("only for those who ask, and only of what is long", async () => {
    const plain = await rawRequest(app.port, "GET /long HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    expect(plain.toLowerCase()).not.toContain("content-encoding");
    const short = await get("/echo/1", { "accept-encoding": "gzip" });
    expect(short.headers.get("content-encoding")).toBeNull();
    const long = await get("/long", { "accept-encoding": "gzip" });
    expect([long.headers.get("content-encoding"), long.headers.get("vary")]).toEqual(["gzip", "Accept-Encoding"]);
    expect(Number(long.headers.get("content-length"))).toBeLessThan(1000);
    expect(JSON.parse(long.text)).toEqual({ text: "x".repeat(5000) });
  });
});

describe("malformed HTTP", () => {
  const error = (text: string) => ({ error: text });
  test.each([
    ["a bad request line", "NONSENSE\r\n\r\n", 400, error("the request is not valid HTTP")],
    ["a bad header", "GET /health HTTP/1.1\r\nHost: x\r\na b: c\r\n\r\n", 400, error("the request is not valid HTTP")],
    [
      "two lengths",
      "POST /health HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
      400,
      error("the request is not valid HTTP"),
    ],
    [
      "headers above 16 KiB",
      `GET /health HTTP/1.1\r\nHost: x\r\nx: ${"y".repeat(17_000)}\r\n\r\n`,
      431,
      error("the request headers are too large"),
    ],
    [
      "HTTP/1.1 without a host",
      "GET /health HTTP/1.1\r\nConnection: close\r\n\r\n",
      400,
      error("the Host header is missing"),
    ],
    [
      "HTTP/1.1 without a host on an unknown path",
      "GET /x HTTP/1.1\r\nConnection: close\r\n\r\n",
      400,
      error("the Host header is missing"),
    ],
    [
      "an asterisk for a path",
      "OPTIONS * HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
      404,
      error("route not found"),
    ],
  ])("%s", async (_, request, status, body) => {
    const answer = parseAnswer(await rawRequest(app.port, request));
    expect([answer.status, answer.body]).toEqual([status, body]);
    expect(answer.head).toMatch(/\r\nx-request-id: [0-9a-f-]{36}/);
    expect(answer.head).toContain("connection: close");
  });

  test("a broken chunk in a body", async () => {
    const answer = await rawRequest(
      app.port,
      `POST /echo/1 HTTP/1.1\r\nHost: x\r\nAuthorization: ${authorization}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n`,
    );
    expect(parseAnswer(answer).status).toBe(400);
  });

  test.each([
    ["HTTP/1.0 without a host", "GET /health HTTP/1.0\r\n\r\n"],
    ["a whole URL as the request's target", "GET http://x/health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"],
    ["an unknown expectation", "GET /health HTTP/1.1\r\nHost: x\r\nExpect: more\r\nConnection: close\r\n\r\n"],
    ["an expectation", "GET /health HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nConnection: close\r\n\r\n"],
  ])("good enough: %s", async (_, request) => {
    const answer = await rawRequest(app.port, request);
    expect(answer.endsWith('{"status":"ok"}')).toBe(true);
  });
});

test("requests are measured under their route, never under their path", async () => {
  app.measured.length = 0;
  await get("/echo/7");
  await get("/nowhere/7");
  await ask("POST", "/echo/7");
  await get("/echo/7");
  expect(app.measured.slice(0, 3).map(({ method, route, status }) => [method, route, status])).toEqual([
    ["GET", "/echo/{id}", 200],
    ["GET", "unmatched", 404],
    ["POST", "/echo/{id}", 401],
  ]);
});

test("a closing gateway does not wait for connections that never sent anything", async () => {
  const other = await startApp({ routes: [workRoute(() => Promise.resolve({}))] });
  const socket = connect({ host: "127.0.0.1", port: other.port });
  await once(socket, "connect");
  const ended = once(socket, "close");
  await other.close();
  expect(await ended).toEqual([false]);
});

test("a closing gateway answers what is in flight, then closes the connection", async () => {
  let finish: (answer: Json) => void = () => undefined;
  let began = (): void => undefined;
  const begun = new Promise<void>((resolve) => (began = resolve));
  const other = await startApp({
    routes: [
      workRoute(() => {
        began();
        return new Promise((resolve) => (finish = resolve));
      }),
    ],
  });
  const answer = rawRequest(other.port, "GET /work HTTP/1.1\r\nHost: x\r\n\r\n");
  await begun;
  const closed = other.close();
  const takesMore = () =>
    fetch(`${other.url}/health`)
      .then(() => true)
      .catch(() => false);
  for (let tries = 0; tries < 1000 && (await takesMore()); tries += 1)
    await new Promise((resolve) => setImmediate(resolve));
  expect(await takesMore()).toBe(false);
  finish({ done: true });
  expect(parseAnswer(await answer)).toMatchObject({ status: 200, body: { done: true } });
  expect((await answer).toLowerCase()).toContain("connection: close");
  await closed;
});
