import { connect } from "node:net";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { allRoutes } from "../api/index.ts";
import { startApp, type TestApp } from "../app.fixture.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startApp({ routes: allRoutes });
});
afterAll(() => app.close());

const sniffing = (answer: Response): string | null => answer.headers.get("x-content-type-options");
const pathOf = (template: string): string => template.replaceAll(/\{\w+\}/g, "x");

test.each(allRoutes.map(({ method, path }) => [method, path] as const))(
  "%s %s forbids guessing its type, with credentials and without",
  async (method, path) => {
    const url = `${app.url}${pathOf(path)}`;
    expect(sniffing(await fetch(url, { method }))).toBe("nosniff");
    const authorization = `Bearer ${app.addKey(["sdk:ingest", "export:read", "runs:control"])}`;
    expect(sniffing(await fetch(url, { method, headers: { authorization } }))).toBe("nosniff");
  },
);

test.each([
  ["GET", "/health"],
  ["GET", "/healthz"],
  ["GET", "/readyz"],
  ["GET", "/metrics"],
  ["GET", "/openapi.json"],
  ["HEAD", "/openapi.json"],
  ["GET", "/nowhere"],
  ["DELETE", "/health"],
  ["GET", "/%zz"],
  ["POST", "/runs/%ff"],
])("%s %s does as well, with a route or without", async (method, path) => {
  expect(sniffing(await fetch(`${app.url}${path}`, { method }))).toBe("nosniff");
});

test("a preflight request does", async () => {
  const headers = { origin: app.url, "access-control-request-method": "GET" };
  expect(sniffing(await fetch(`${app.url}/runs`, { method: "OPTIONS", headers }))).toBe("nosniff");
});

test.each([
  ["what is not HTTP", "nonsense\r\n\r\n", "400"],
  ["headers that are too large", `GET / HTTP/1.1\r\nhost: x\r\nx: ${"y".repeat(200_000)}\r\n\r\n`, "431"],
  ["a request without a host", "GET /health HTTP/1.1\r\nconnection: close\r\n\r\n", "400"],
  ["an unknown expectation", "GET /health HTTP/1.1\r\nhost: x\r\nexpect: tea\r\nconnection: close\r\n\r\n", "200"],
])("the answer to %s does", async (_name, sent, status) => {
  const socket = connect(app.port, "127.0.0.1");
  socket.on("error", () => {});
  let text = "";
  socket.on("data", (bytes) => (text += bytes.toString()));
  const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()));
  socket.end(sent);
  await closed;
  expect(text).toMatch(new RegExp(`^HTTP/1\\.1 ${status} [\\s\\S]*\\r\\nx-content-type-options: nosniff\\r\\n`));
});
