import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { AppError, badRequest, notFound, type Reason } from "@tidemark/errors";
import { startApp, type TestApp } from "../../app.fixture.ts";
import { mlflowRoutes } from "./index.ts";
import { mlflowRoute } from "./route.ts";

let app: TestApp;
let thrown: Error = notFound("run");

const echo = { handle: ({ body }: { body: object }) => Promise.resolve({ body: { ...body } as never }) };
const routes = [
  mlflowRoute({ method: "GET", path: "/api/2.0/mlflow/echo", use: "read", ...echo }),
  mlflowRoute({ method: "DELETE", path: "/api/2.0/mlflow/echo", use: "control", ...echo }),
  mlflowRoute({ method: "POST", path: "/api/2.0/mlflow/echo", use: "write", ...echo }),
  mlflowRoute({ method: "POST", path: "/api/2.0/mlflow/batch", use: "write", isBatch: true, ...echo }),
  mlflowRoute({
    method: "POST",
    path: "/api/2.0/mlflow/fails",
    use: "write",
    handle: () => Promise.reject(thrown),
  }),
];

beforeAll(async () => {
  app = await startApp({ routes: [], options: { dialectRoutes: [...routes, ...mlflowRoutes] } });
});
afterAll(() => app.close());

const basic = (text: string): string => `Basic ${Buffer.from(text).toString("base64")}`;

async function ask(method: string, path: string, init: { headers?: Record<string, string>; body?: string } = {}) {
  const key = app.addKey(["export:read", "sdk:ingest", "runs:control"]);
  const response = await fetch(`${app.url}${path}`, {
    method,
    ...init,
    headers: {
      authorization: `Bearer ${key}`,
      ...(init.body === undefined ? {} : { "content-type": "application/json" }),
      ...init.headers,
    },
  });
  return { status: response.status, json: (await response.json()) as unknown, headers: response.headers };
}

test("server-info offers nothing that is not served", async () => {
  expect(await ask("GET", "/api/3.0/mlflow/server-info")).toMatchObject({
    status: 200,
    json: {
      store_type: "SqlStore",
      workspaces_enabled: false,
      multipart_uploads_enabled: false,
      multipart_downloads_enabled: false,
    },
  });
});

describe("the credential", () => {
  const status = async (authorization: string) => {
    const { status: answered, json } = await ask("GET", "/api/3.0/mlflow/server-info", { headers: { authorization } });
    return [answered, (json as { error_code?: string }).error_code];
  };

  test("is a key as a bearer token, or as the password of any user", async () => {
    expect(await status(basic(`someone:${app.addKey([])}`))).toEqual([200, undefined]);
    expect(await status(basic(`:${app.addKey([])}`))).toEqual([200, undefined]);
  });

  test("is refused as UNAUTHENTICATED where it is wrong", async () => {
    const key = app.addKey([]);
    for (const text of [`Bearer x`, basic("someone:x"), basic(key), basic(`${key}:`), "Basic %", `Digest ${key}`])
      expect([text, ...(await status(text))]).toEqual([text, 401, "UNAUTHENTICATED"]);
  });

  test("needs the scope of the route", async () => {
    const authorization = `Bearer ${app.addKey(["export:read"])}`;
    expect(await ask("POST", "/api/2.0/mlflow/echo", { headers: { authorization }, body: "{}" })).toMatchObject({
      status: 403,
      json: { error_code: "PERMISSION_DENIED", message: "api key requires sdk:ingest" },
    });
  });

  test("is not Basic on routes of the product", async () => {
    const { dialect: _dialect, ...own } = routes[0]!;
    const plain = await startApp({ routes: [own] });
    try {
      const response = await fetch(`${plain.url}/api/2.0/mlflow/echo`, {
        headers: { authorization: basic(`:${plain.addKey(["export:read"])}`) },
      });
      expect([response.status, await response.json()]).toEqual([
        401,
        { error: "the authorization scheme must be Bearer" },
      ]);
    } finally {
      await plain.close();
    }
  });
});

describe("a message", () => {
  test("is the query of a GET, where a repeated name is a list", async () => {
    const { json } = await ask("GET", "/api/2.0/mlflow/echo?run_ids=a&run_ids=b&x=%C3%A9+1&page_token=&deep=True");
    expect(json).toEqual({ run_ids: ["a", "b"], x: "é 1", page_token: "", deep: "True" });
  });

  test("is otherwise the body, also of a DELETE", async () => {
    expect((await ask("DELETE", "/api/2.0/mlflow/echo", { body: '{"a":1}' })).json).toEqual({ a: 1 });
    expect((await ask("POST", "/api/2.0/mlflow/echo", { body: '{"a":1}' })).json).toEqual({ a: 1 });
    expect((await ask("POST", "/api/2.0/mlflow/echo")).json).toEqual({});
  });

  test.each([
    ["malformed JSON", { body: "{" }],
    ["a list", { body: "[]" }],
    ["another type", { body: "{}", headers: { "content-type": "text/plain" } }],
  ])("that is %s is 400", async (_, init) => {
    expect(await ask("POST", "/api/2.0/mlflow/echo", init)).toMatchObject({
      status: 400,
      json: { error_code: "INVALID_PARAMETER_VALUE", message: expect.any(String) },
    });
  });

  test("has at most 4 MiB, and 16 MiB as a batch", async () => {
    const [allowed, tooLarge] = [4, 4.1].map((mib) => JSON.stringify({ a: "x".repeat(mib * 1024 * 1024 - 8) }));
    const [batch, tooLargeBatch] = [16, 16.1].map((mib) => JSON.stringify({ a: "x".repeat(mib * 1024 * 1024 - 8) }));
    expect((await ask("POST", "/api/2.0/mlflow/echo", { body: allowed! })).status).toBe(200);
    expect((await ask("POST", "/api/2.0/mlflow/batch", { body: batch! })).status).toBe(200);
    const refusal = { status: 413, json: { error_code: "INVALID_PARAMETER_VALUE" } };
    expect(await ask("POST", "/api/2.0/mlflow/echo", { body: tooLarge! })).toMatchObject(refusal);
    expect(await ask("POST", "/api/2.0/mlflow/batch", { body: tooLargeBatch! })).toMatchObject(refusal);
  });
});

describe("errors", () => {
  test.each([
    ["GET", "/api/2.0/mlflow/nothing", 404],
    ["POST", "/api/3.0/mlflow/nothing", 404],
    ["GET", "/api/2.0/", 404],
    ["PATCH", "/api/2.0/mlflow/echo", 405],
  ])("of %s %s, which no route has, are ENDPOINT_NOT_FOUND", async (method, path, status) => {
    expect(await ask(method, path)).toMatchObject({
      status,
      json: { error_code: "ENDPOINT_NOT_FOUND", message: expect.any(String) },
    });
  });

  test("of an address that cannot be read have the shape too", async () => {
    expect(await ask("GET", "/api/2.0/mlflow/%zz")).toMatchObject({
      status: 400,
      json: { error_code: "INVALID_PARAMETER_VALUE" },
    });
    expect((await ask("GET", "/api/1.0/nothing")).json).toEqual({ error: "route not found" });
  });

  test.each([
    ["bad_request", 400, "INVALID_PARAMETER_VALUE"],
    ["unauthenticated", 401, "UNAUTHENTICATED"],
    ["payment_required", 402, "PERMISSION_DENIED"],
    ["plan_limit_exceeded", 402, "PERMISSION_DENIED"],
    ["forbidden", 403, "PERMISSION_DENIED"],
    ["api_request_monthly_limit_exceeded", 403, "PERMISSION_DENIED"],
    ["not_found", 404, "RESOURCE_DOES_NOT_EXIST"],
    ["gone", 404, "RESOURCE_DOES_NOT_EXIST"],
    ["conflict", 400, "RESOURCE_ALREADY_EXISTS"],
    ["idempotency_in_progress", 503, "TEMPORARILY_UNAVAILABLE"],
    ["range_not_satisfiable", 416, "INVALID_PARAMETER_VALUE"],
    ["rate_limit_exceeded", 429, "REQUEST_LIMIT_EXCEEDED"],
    ["service_unavailable", 503, "TEMPORARILY_UNAVAILABLE"],
    ["internal", 500, "INTERNAL_ERROR"],
  ] satisfies [Reason, number, string][])("of reason %s are %i with %s", async (reason, status, code) => {
    thrown = new AppError(reason, "why");
    const answer = await ask("POST", "/api/2.0/mlflow/fails", { body: "{}" });
    expect(answer).toMatchObject({ status, json: { error_code: code, message: expect.any(String) } });
    expect(answer.headers.has("retry-after")).toBe(status === 503);
  });

  test("say what is wrong and when to come back", async () => {
    thrown = new AppError("rate_limit_exceeded", "slow down", { retryAfterSeconds: 3 });
    const limited = await ask("POST", "/api/2.0/mlflow/fails", { body: "{}" });
    expect([limited.headers.get("retry-after"), limited.json]).toEqual([
      "3",
      { error_code: "REQUEST_LIMIT_EXCEEDED", message: "slow down" },
    ]);
    thrown = badRequest("step must be …", "step");
    expect((await ask("POST", "/api/2.0/mlflow/fails", { body: "{}" })).json).toEqual({
      error_code: "INVALID_PARAMETER_VALUE",
      message: "step must be …",
    });
  });
});
