import { afterEach, expect, test } from "@jest/globals";
import { randomBytes } from "node:crypto";
import { create } from "@bufbuild/protobuf";
import { issueCredential } from "@tidemark/credentials";
import { parsePlans } from "@tidemark/limits";
import {
  CredentialEntrySchema,
  CredentialKind,
  LookupCredentialResponseSchema,
  OrganizationEntrySchema,
} from "@tidemark/proto/control/v1/control";
import { echoRoutes } from "./echo-routes.fixture.ts";
import { orgId, startApp, type TestApp, type TestAppOptions } from "../app.fixture.ts";

let app: TestApp;
afterEach(() => app.close());

const start = async (options: Partial<TestAppOptions> = {}): Promise<void> => {
  app = await startApp({ routes: echoRoutes, ...options, settings: { limits: true, ...options.settings } });
};
const ask = async (path: string, init: RequestInit = {}) => {
  const response = await fetch(`${app.url}${path}`, init);
  return { status: response.status, headers: response.headers, body: (await response.json()) as unknown };
};
const times = async (count: number, path: string, init: RequestInit = {}): Promise<number[]> => {
  const statuses: number[] = [];
  for (let i = 0; i < count; i += 1) statuses.push((await ask(path, init)).status);
  return statuses;
};
const repeated = (count: number, status: number): number[] => Array.from({ length: count }, () => status);
const limitHeaders = (headers: Headers) =>
  Object.fromEntries(
    [
      "x-svc-ratelimit-scope",
      "x-instantml-ratelimit-scope",
      "ratelimit-limit",
      "ratelimit-remaining",
      "ratelimit-reset",
      "retry-after",
    ].map((name) => [name, headers.get(name)]),
  );
const bearer = (key: string) => ({ headers: { authorization: `Bearer ${key}` } });

test("an organization has its plan's burst, is then told when to retry, and succeeds", async () => {
  await start();
  const key = bearer(app.addKey(["export:read"]));
  const first = await ask("/echo/1", key);
  expect([first.status, limitHeaders(first.headers)]).toEqual([
    200,
    {
      "x-svc-ratelimit-scope": "second",
      "x-instantml-ratelimit-scope": "second",
      "ratelimit-limit": "5",
      "ratelimit-remaining": "29",
      "ratelimit-reset": "0",
      "retry-after": null,
    },
  ]);
  expect(await times(29, "/echo/1", key)).toEqual(repeated(29, 200));
  const refused = await ask("/echo/1", key);
  expect([refused.status, refused.body, limitHeaders(refused.headers)]).toEqual([
    429,
    { error: "too many requests of your organization; try again in 1 s", code: "rate_limit_exceeded" },
    {
      "x-svc-ratelimit-scope": "second",
      "x-instantml-ratelimit-scope": "second",
      "ratelimit-limit": "5",
      "ratelimit-remaining": "0",
      "ratelimit-reset": "1",
      "retry-after": "1",
    },
  ]);
  app.clock.ms += 1000;
  expect(await times(6, "/echo/1", key)).toEqual([...repeated(5, 200), 429]);
});

test("two keys of one organization share its bucket, two classes do not", async () => {
  await start();
  const [a, b] = [app.addKey(["export:read", "sdk:ingest"]), app.addKey(["export:read"])];
  expect(await times(30, "/echo/1", bearer(a))).toEqual(repeated(30, 200));
  expect((await ask("/echo/1", bearer(b))).status).toBe(429);
  const post = {
    method: "POST",
    body: "{}",
    headers: { authorization: `Bearer ${a}`, "content-type": "application/json" },
  };
  expect(await times(11, "/echo/1", post)).toEqual([...repeated(10, 200), 429]);
});

test("the rate is checked after the scope and before the body", async () => {
  await start();
  const reader = app.addKey(["export:read"]);
  const writer = app.addKey(["sdk:ingest"]);
  const post = (key: string) => ({
    method: "POST",
    body: "{",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
  });
  expect(await times(20, "/echo/1", post(reader))).toEqual(repeated(20, 403));
  expect(await times(11, "/echo/1", post(writer))).toEqual([...repeated(10, 400), 429]);
});

test("failed authentication counts against the address, good credentials do not feel it", async () => {
  await start();
  const good = bearer(app.addKey(["export:read"]));
  expect(await times(101, "/echo/1")).toEqual([...repeated(100, 401), 429]);
  const refused = await ask("/echo/1", bearer("nonsense"));
  expect([refused.status, refused.headers.get("retry-after"), refused.headers.get("ratelimit-limit")]).toEqual([
    429,
    "1",
    "25",
  ]);
  expect((await ask("/echo/1", good)).status).toBe(200);
  expect((await ask("/anyone", { method: "POST" })).status).toBe(429);
  expect(await times(5, "/health")).toEqual(repeated(5, 200));
  app.clock.ms += 1000;
  expect(await times(26, "/echo/1")).toEqual([...repeated(25, 401), 429]);
});

test("where credentials are optional, callers without valid ones count against their address, and others do not", async () => {
  await start();
  const good = bearer(app.addKey(["export:read"]));
  expect(await times(110, "/open/public", good)).toEqual(repeated(110, 200));
  expect(await times(50, "/open/public")).toEqual(repeated(50, 200));
  expect(await times(49, "/open/public", bearer("nonsense"))).toEqual(repeated(49, 200));
  expect(await times(2, "/open/private", bearer("nonsense"))).toEqual([401, 429]);
  expect((await ask("/open/private", good)).status).toBe(200);
});

test("past its limit an address cannot make the gateway look credentials up, and a good look-up is not counted", async () => {
  const issued = issueCredential("api_key", randomBytes);
  const entry = create(CredentialEntrySchema, {
    kind: CredentialKind.API_KEY,
    id: issued.id,
    hash: issued.hash,
    orgId,
    scopes: ["export:read"],
  });
  const organization = create(OrganizationEntrySchema, { id: orgId, planTier: "premium" });
  let asked = 0;
  await start({
    fresh: () => false,
    ask: (_, id) => {
      asked += 1;
      return Promise.resolve(create(LookupCredentialResponseSchema, id === issued.id ? { entry, organization } : {}));
    },
  });
  expect(await times(150, "/echo/1", bearer(issued.text))).toEqual(repeated(150, 200));
  for (let i = 0; i < 100; i += 1) await ask("/echo/1", bearer(issueCredential("api_key", randomBytes).text));
  expect(asked).toBe(250);
  expect((await ask("/echo/1", bearer(issueCredential("api_key", randomBytes).text))).status).toBe(429);
  expect(asked).toBe(250);
});

test("the address is that of the client when the proxy is trusted", async () => {
  await start({ settings: { trustedProxies: ["127.0.0.1"] } });
  const from = (address: string) => ({ headers: { "x-forwarded-for": `1.2.3.4, ${address}` } });
  expect(await times(101, "/echo/1", from("10.0.0.1"))).toEqual([...repeated(100, 401), 429]);
  expect((await ask("/echo/1", from("10.0.0.2"))).status).toBe(401);
});

test("and that of the connection when it is not", async () => {
  await start();
  const from = (address: string) => ({ headers: { "x-forwarded-for": address } });
  expect(await times(100, "/echo/1", from("10.0.0.1"))).toEqual(repeated(100, 401));
  expect((await ask("/echo/1", from("10.0.0.2"))).status).toBe(429);
});

test("switched off, everything is admitted and no header is sent", async () => {
  await start({ settings: { limits: false } });
  const key = bearer(app.addKey(["export:read"]));
  expect(await times(40, "/echo/1", key)).toEqual(repeated(40, 200));
  expect(await times(110, "/echo/1")).toEqual(repeated(110, 401));
  expect(new Set(Object.values(limitHeaders((await ask("/echo/1", key)).headers)))).toEqual(new Set([null]));
});

test("a plan without more requests in this month says so, and when there will be more", async () => {
  await start({ settings: { plans: parsePlans('{"free": {"api_requests": 2}}') } });
  const key = bearer(app.addKey(["export:read"]));
  expect(await times(2, "/echo/1", key)).toEqual([200, 200]);
  const refused = await ask("/echo/1", key);
  expect([refused.status, refused.body]).toEqual([
    429,
    {
      error:
        "your organization has made the 2 requests that its plan allows in a month; it may make more from 2026-02-01T00:00:00.000Z on",
      code: "api_request_monthly_limit_exceeded",
      usage: 2,
      projected_usage: 3,
      limit: 2,
      plan_tier: "free",
      overage_mode: "blocked",
      period_start: "2026-01-01T00:00:00.000Z",
      reset_at: "2026-02-01T00:00:00.000Z",
    },
  ]);
  expect(limitHeaders(refused.headers)).toMatchObject({
    "x-svc-ratelimit-scope": "monthly",
    "x-instantml-ratelimit-scope": "monthly",
    "ratelimit-limit": "2",
  });
  app.clock.ms = Date.parse("2026-02-01T00:00:00Z");
  expect(await times(3, "/echo/1", key)).toEqual([200, 200, 429]);
});
