import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { create } from "@bufbuild/protobuf";
import { issueCredential } from "@tidemark/credentials";
import { CallerKind } from "@tidemark/proto/common/v1/common";
import {
  CredentialEntrySchema,
  CredentialKind,
  LookupCredentialResponseSchema,
  OrganizationEntrySchema,
} from "@tidemark/proto/control/v1/control";
import { randomBytes } from "node:crypto";
import { notFound } from "@tidemark/errors";
import { echoRoutes, workRoute } from "./echo-routes.fixture.ts";
import { bootstrapToken, orgId, startApp, type TestApp } from "../app.fixture.ts";
import { isFromThisMachine } from "../http/origin.ts";
import { parseAnswer, rawRequest } from "../http/raw-request.fixture.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startApp({ routes: echoRoutes });
});
afterAll(() => app.close());

async function ask(method: string, path: string, headers: Record<string, string> = {}, body?: string) {
  const response = await fetch(`${app.url}${path}`, { method, headers, ...(body === undefined ? {} : { body }) });
  return {
    status: response.status,
    body: (await response.json()) as Record<string, unknown>,
    headers: response.headers,
  };
}
const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
const cookie = (token: string) => ({ cookie: `tidemark_session=${token}` });
const json = { "content-type": "application/json" };
const own = () => ({ origin: app.url });

describe("401", () => {
  test.each<[string, () => Record<string, string>, string]>([
    ["nothing was sent", () => ({}), "missing bearer token"],
    ["another scheme", () => ({ authorization: "Basic abc" }), "the authorization scheme must be Bearer"],
    ["a text that is not a key", () => bearer("local"), "invalid or expired credentials"],
    ["an unknown key", () => bearer(issueCredential("api_key", randomBytes).text), "invalid or expired credentials"],
    ["a revoked key", () => bearer(app.addKey(["export:read"], { revoked: true })), "invalid or expired credentials"],
    [
      "an expired key",
      () => bearer(app.addKey(["export:read"], { expiresAt: "2026-01-01T00:00:00Z" })),
      "invalid or expired credentials",
    ],
    ["a session as a bearer token", () => bearer(app.addSession("owner")), "invalid or expired credentials"],
    ["a key as a cookie", () => cookie(app.addKey(["export:read"])), "invalid or expired credentials"],
    ["a revoked session", () => cookie(app.addSession("owner", { revoked: true })), "invalid or expired credentials"],
    [
      "a bad key before a good cookie",
      () => ({ ...bearer("x"), ...cookie(app.addSession("owner")) }),
      "invalid or expired credentials",
    ],
  ])("%s", async (_, headers, error) => {
    const answer = await ask("GET", "/echo/1", headers());
    expect([answer.status, answer.body]).toEqual([401, { error }]);
    expect(answer.headers.get("x-request-id")).toBeTruthy();
  });

  test("a key where only sessions are accepted", async () => {
    const answer = await ask("DELETE", "/session-only", bearer(app.addKey(["sdk:ingest", "export:read"])));
    expect([answer.status, answer.body]).toEqual([401, { error: "this route needs a signed-in session" }]);
  });

  test("a session where it is refused with 401", async () => {
    const answer = await ask("POST", "/bodyless", { ...cookie(app.addSession("owner")), ...own() });
    expect(answer.status).toBe(401);
  });
});

describe("403", () => {
  test("a key without the scope is told which one", async () => {
    const answer = await ask("GET", "/echo/1", bearer(app.addKey(["sdk:ingest"])));
    expect([answer.status, answer.body]).toEqual([403, { error: "api key requires export:read" }]);
  });

  test("a session without the role", async () => {
    const answer = await ask("GET", "/echo/1", cookie(app.addSession("member")));
    expect(answer.status).toBe(403);
  });

  test("a session where only keys are accepted", async () => {
    const answer = await ask("POST", "/optional", {
      ...cookie(app.addSession("owner")),
      ...own(),
      "idempotency-key": "k",
    });
    expect([answer.status, answer.body]).toEqual([403, { error: "this route needs an api key" }]);
  });

  test.each<[string, Record<string, string>, number]>([
    ["no Origin", {}, 403],
    ["a foreign Origin", { origin: "https://evil.test" }, 403],
    ["a sandboxed page", { origin: "null" }, 403],
    ["a configured Origin", { origin: "https://app.example" }, 200],
    ["a loopback Origin", { origin: "http://localhost:5173" }, 200],
    ["an allowed Origin from another site", { origin: "https://app.example", "sec-fetch-site": "cross-site" }, 403],
    ["an allowed Origin from this site", { origin: "https://app.example", "sec-fetch-site": "same-site" }, 200],
  ])("a session that changes something, with %s: %i", async (_, headers, status) => {
    expect((await ask("DELETE", "/session-only", { ...cookie(app.addSession("owner")), ...headers })).status).toBe(
      status,
    );
    expect((await ask("POST", "/sign-in", headers)).status).toBe(status);
  });

  test.each<[string, string, Record<string, string>, number]>([
    ["to an address of it", "127.0.0.1:8080", {}, 200],
    ["to its name", "localhost", {}, 200],
    ["to its address of IPv6", "[::1]:8080", {}, 200],
    ["to the name of another site", "tracker.example.org", {}, 401],
    ["to a name that begins as its own", "localhost.example.org", {}, 401],
    ["through a proxy that says for whom", "localhost", { "x-forwarded-for": "127.0.0.1" }, 401],
    ["through a proxy that says how", "localhost", { "x-forwarded-proto": "https" }, 401],
    ["through a proxy of the standard", "localhost", { forwarded: "for=127.0.0.1" }, 401],
  ])("a route for this machine alone, asked %s: %i", async (_, host, headers, status) => {
    const more = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    const head = `POST /this-machine HTTP/1.1\r\nHost: ${host}\r\n${more.join("")}Content-Length: 0\r\nConnection: close\r\n\r\n`;
    expect(parseAnswer(await rawRequest(app.port, head)).status).toBe(status);
  });

  test("an address of another machine is not local, whatever host it asks for", () => {
    const from = (remoteAddress: string) =>
      isFromThisMachine({ socket: { remoteAddress }, headers: { host: "localhost" } } as never);
    expect(["127.0.0.1", "::1", "::ffff:127.0.0.1"].map(from)).toEqual([true, true, true]);
    expect(["10.0.0.1", "::ffff:10.0.0.1", "2001:db8::1", ""].map(from)).toEqual([false, false, false, false]);
  });

  test("a cookie on a route for anyone needs an Origin to change something", async () => {
    expect((await ask("POST", "/anyone", cookie("whatever"))).status).toBe(403);
    expect((await ask("POST", "/anyone")).status).toBe(200);
  });

  test("reading needs no Origin", async () => {
    expect((await ask("GET", "/echo/1", cookie(app.addSession("viewer")))).status).toBe(200);
  });

  test("keys need no Origin", async () => {
    const answer = await ask("POST", "/echo/1", { ...bearer(app.addKey(["sdk:ingest"])), ...json }, "{}");
    expect(answer.status).toBe(200);
  });

  test("the Origin is checked before the role", async () => {
    const answer = await ask("DELETE", "/session-only", cookie(app.addSession("viewer")));
    expect(answer.body).toEqual({ error: "browser sessions must send an Origin header" });
  });
});

describe("operators", () => {
  test.each([
    ["under its own name", "x-svc-bootstrap-token"],
    ["under the SDK's name", "x-instantml-bootstrap-token"],
  ])("the token %s opens both kinds of route", async (_, name) => {
    for (const [method, path] of [
      ["POST", "/operator"],
      ["GET", "/keys"],
    ] as const) {
      const answer = await ask(method, path, { [name]: bootstrapToken });
      expect([answer.status, answer.body]).toEqual([200, { kind: CallerKind.OPERATOR }]);
    }
  });

  test.each([
    ["no token", "POST", "/operator", {}],
    ["a wrong token", "POST", "/operator", { "x-svc-bootstrap-token": "wrong" }],
    ["nothing at all where operators are accepted", "GET", "/keys", {}],
    ["a wrong token where others are accepted too", "GET", "/keys", { "x-svc-bootstrap-token": "wrong" }],
  ])("%s: 401", async (_, method, path, headers) => {
    const answer = await ask(method, path, headers);
    expect([answer.status, answer.body]).toEqual([401, { error: "invalid bootstrap token" }]);
  });

  test("the token opens no other route", async () => {
    expect((await ask("GET", "/echo/1", { "x-svc-bootstrap-token": bootstrapToken })).status).toBe(401);
  });

  test("a key with the scope does what it may", async () => {
    const answer = await ask("GET", "/keys", bearer(app.addKey(["api_keys:write"])));
    expect([answer.status, answer.body]).toEqual([200, { kind: CallerKind.API_KEY }]);
  });
});

describe("credentials that memory does not know", () => {
  const known = issueCredential("api_key", randomBytes);
  const entry = create(CredentialEntrySchema, {
    kind: CredentialKind.API_KEY,
    id: known.id,
    hash: known.hash,
    orgId,
    scopes: ["export:read"],
  });
  const organization = create(OrganizationEntrySchema, { id: orgId, planTier: "free" });

  const askOther = async (other: TestApp) => {
    const response = await fetch(`${other.url}/echo/1`, { headers: bearer(known.text) });
    return { status: response.status, retry: response.headers.get("retry-after"), body: await response.json() };
  };

  test("are looked up", async () => {
    const other = await startApp({
      routes: echoRoutes,
      ask: () => Promise.resolve(create(LookupCredentialResponseSchema, { entry, organization })),
    });
    expect(await askOther(other)).toMatchObject({ status: 200, body: { org_id: orgId } });
    await other.close();
  });

  test("are not rejected as invalid when the look-up fails: 503", async () => {
    const other = await startApp({ routes: echoRoutes, ask: () => Promise.reject(new Error("refused")) });
    expect(await askOther(other)).toEqual({
      status: 503,
      retry: "1",
      body: { error: "the service is not available at the moment; try again", code: "service_unavailable" },
    });
    await other.close();
  });

  test("or learned too long ago: 503 while the look-up fails", async () => {
    const other = await startApp({
      routes: echoRoutes,
      fresh: () => false,
      ask: () => Promise.reject(new Error("refused")),
    });
    other.directory.put({ organizations: [organization], credentials: [entry] });
    expect((await askOther(other)).status).toBe(503);
    await other.close();
  });
});

describe("routes that change who may do what", () => {
  const changing = (changesAccess: boolean) =>
    workRoute(() => Promise.resolve({ changed: true }), { method: "POST", changesAccess });

  test.each([
    ["read the change before they answer", changing(true), 200, 1],
    ["others do not", changing(false), 200, 0],
    ["nor do those that failed", { ...changing(true), handle: () => Promise.reject(notFound("key")) }, 404, 0],
  ])("%s", async (_, route, status, expected) => {
    let refreshed = 0;
    const other = await startApp({
      routes: [route],
      options: {
        projection: {
          loaded: () => true,
          degraded: () => false,
          refresh: () => Promise.resolve(void (refreshed += 1)),
        },
      },
    });
    const response = await fetch(`${other.url}/work`, { method: "POST" });
    expect([response.status, refreshed]).toEqual([status, expected]);
    await other.close();
  });
});

describe("a route without required credentials", () => {
  const lookUp = () => bearer(issueCredential("api_key", randomBytes).text);
  test.each<[string, () => Record<string, string>, number, string]>([
    ["no credentials", () => ({}), 401, "missing bearer token"],
    ["a text that is not a key", () => bearer("local"), 401, "invalid or expired credentials"],
    ["an unknown key", lookUp, 401, "invalid or expired credentials"],
    [
      "a revoked session",
      () => cookie(app.addSession("owner", { revoked: true })),
      401,
      "invalid or expired credentials",
    ],
    ["a key without the scope", () => bearer(app.addKey(["sdk:ingest"])), 403, "api key requires export:read"],
    ["a session of another role", () => cookie(app.addSession("viewer")), 403, "session requires the role owner"],
  ])(
    "%s counts as anonymous, and is refused with the reason where credentials are required",
    async (_, headers, status, error) => {
      const open = await ask("GET", "/open/public", headers());
      expect([open.status, open.body]).toEqual([200, { org_id: null }]);
      const closed = await ask("GET", "/open/private", headers());
      expect([closed.status, closed.body]).toEqual([status, { error }]);
    },
  );

  test("good credentials say who it is", async () => {
    for (const headers of [bearer(app.addKey(["export:read"])), cookie(app.addSession("owner"))]) {
      expect((await ask("GET", "/open/private", headers)).body).toEqual({ org_id: orgId });
    }
  });
});
