import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { buildOpenApi } from "../openapi/document.ts";
import { echoRoutes } from "./echo-routes.fixture.ts";
import { rawRequest } from "../http/raw-request.fixture.ts";
import { startApp, type TestApp } from "../app.fixture.ts";

let app: TestApp;

beforeAll(async () => {
  app = await startApp({ routes: echoRoutes });
});
afterAll(() => app.close());

const ask = (method: "GET" | "HEAD" | "POST", headers: Record<string, string> = {}) =>
  fetch(`${app.url}/tagged`, {
    method,
    headers: {
      "accept-encoding": "identity",
      ...(method === "POST" ? { "content-type": "application/json" } : {}),
      ...headers,
    },
    ...(method === "POST" ? { body: "{}" } : {}),
  });
/** The headers that a cache keeps with an answer, and that a 304 must repeat (RFC 9110, 304 Not Modified). */
const kept = { etag: 'W/"now"', "cache-control": "private, no-cache", vary: "Accept-Encoding" };

describe("an answer with a tag", () => {
  test.each(["GET", "POST"] as const)(
    "to %s carries it, and says that it may be kept and has to be asked about",
    async (method) => {
      const answer = await ask(method);
      expect(answer.status).toBe(200);
      expect(Object.fromEntries(answer.headers)).toMatchObject(kept);
      expect(await answer.json()).toEqual({ text: "x".repeat(2000) });
    },
  );

  test.each([
    ["its tag", 'W/"now"'],
    ["a list with its tag", '"before", W/"now"'],
    ["an asterisk", "*"],
  ])("is left out for a client that sends %s", async (_, field) => {
    for (const method of ["GET", "HEAD", "POST"] as const) {
      const answer = await ask(method, { "if-none-match": field });
      expect([answer.status, await answer.text()]).toEqual([304, ""]);
      expect(Object.fromEntries(answer.headers)).toMatchObject(kept);
      expect(answer.headers.get("content-type")).toBeNull();
      expect(answer.headers.get("x-request-id")).not.toBeNull();
    }
  });

  test.each([["another tag", 'W/"before"']])("is sent in full to a client that sends %s", async (_, field) => {
    const answer = await ask("GET", { "if-none-match": field });
    expect([answer.status, (await answer.text()).length]).toEqual([200, 2011]);
  });

  test("has no body for HEAD, and the length that it would have", async () => {
    const answer = await ask("HEAD");
    expect([answer.status, await answer.text(), answer.headers.get("content-length")]).toEqual([200, "", "2011"]);
    expect(Object.fromEntries(answer.headers)).toMatchObject(kept);
  });

  test("is compressed under the same weak tag, and names each header that it varies by once", async () => {
    const answer = await ask("GET", { "accept-encoding": "gzip" });
    expect(Object.fromEntries(answer.headers)).toMatchObject({ ...kept, "content-encoding": "gzip" });
    expect(await answer.text()).toHaveLength(2011);
  });

  test("still varies by the origin for pages from elsewhere, who may read its tag", async () => {
    const answer = await ask("GET", { origin: "https://app.example" });
    expect(answer.headers.get("vary")).toBe("Origin, Accept-Encoding");
    expect(answer.headers.get("access-control-expose-headers")).toContain("etag");
  });

  test("leaves the connection open for the next request after a 304", async () => {
    const request = (field: string): string => `GET /tagged HTTP/1.1\r\nHost: localhost\r\n${field}\r\n\r\n`;
    const answer = await rawRequest(app.port, request('If-None-Match: "now"'), request("Connection: close"));
    expect(answer.match(/^HTTP\/1\.1 \d+/gm)).toEqual(["HTTP/1.1 304", "HTTP/1.1 200"]);
  });
});

test("answers without a tag are not to be kept", async () => {
  const answer = await fetch(`${app.url}/long`, {
    headers: { "if-none-match": "*", "accept-encoding": "identity" },
  });
  expect(answer.status).toBe(200);
  expect([answer.headers.get("etag"), answer.headers.get("cache-control"), answer.headers.get("vary")]).toEqual([
    null,
    "private, no-store",
    null,
  ]);
});

test("the documentation has the condition and 304, which has no content", () => {
  type Operation = { parameters: object[]; responses: Record<string, { headers: object }> };
  const document = buildOpenApi(echoRoutes, { version: "0", servicePlane: "combined" });
  const paths = document["paths"] as Record<string, { get: Operation }>;
  const { parameters, responses } = paths["/tagged"]!.get;
  expect(parameters).toContainEqual(expect.objectContaining({ name: "If-None-Match", in: "header", required: false }));
  expect(responses["304"]).not.toHaveProperty("content");
  expect(responses["304"]!.headers).toHaveProperty("ETag");
  expect(responses["200"]!.headers).toHaveProperty("ETag");
  expect(responses["400"]!.headers).not.toHaveProperty("ETag");
  expect(paths["/long"]!.get.parameters).toEqual([]);
});
