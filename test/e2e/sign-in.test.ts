import { expect, test } from "@jest/globals";
import { cookiesSetBy, openBrowser, sessionCookie, asOperator } from "../stack/people.ts";
import { describeModes } from "../stack/modes.ts";

const ALL = ["sdk:ingest", "export:read", "runs:control", "api_keys:write", "usage:read"];

describeModes("signing in with an API key", (stack) => {
  const signedIn = async (scopes: string[], wish: object = {}) => {
    const { orgId } = await stack().organization();
    const path = `/api/orgs/${orgId}/api-keys`;
    const made = (await stack().api.post(path, { scopes, ...wish }, asOperator(stack()))).json;
    const browser = openBrowser(stack().baseUrl);
    const answer = await browser.post("/api/auth/api-key", { api_key: made.api_key });
    return { orgId, text: made.api_key as string, key: made.key, browser, answer };
  };

  test("gives a session with the key's scopes, without user and membership", async () => {
    const { orgId, answer, browser, text } = await signedIn(["export:read"]);
    expect(answer.status).toBe(200);
    expect(answer.json).toMatchObject({
      authenticated: true,
      session: { org_id: orgId, user_id: null, metadata: { scopes: ["export:read"], project_id: null } },
      user: null,
      membership: null,
      memberships: [],
      organization: { id: orgId },
    });
    expect(answer.headers["cache-control"]).toBe("no-store");
    expect(cookiesSetBy(answer)[0]).toMatch(
      /^tidemark_session=tm_session_\w+; Path=\/; HttpOnly; SameSite=Lax; Max-Age=2592000$/,
    );
    expect(answer.text).not.toContain(text);
    expect((await browser.get("/api/auth/session")).json).toEqual(answer.json);
  });

  test("opens what the key opens, and nothing more", async () => {
    const reader = await signedIn(["export:read"]);
    expect((await reader.browser.get("/runs")).status).toBe(200);
    expect((await reader.browser.post("/runs", {})).status).toBe(403);
    const { browser, orgId } = await signedIn(ALL);
    const { run } = (await browser.post("/runs", { project: "p" })).json;
    expect((await browser.post(`/api/runs/${run.id}/stop`, {})).json.run_control).toMatchObject({ actor: "api_key" });
    expect((await browser.post("/runs", {}, { headers: { origin: "https://evil.example" } })).status).toBe(403);
    // Routes only for users, in any role; and routes only for training processes.
    for (const [method, path] of [
      ["GET", "/api/dashboard/preferences"],
      ["GET", "/api/workspace-views"],
      ["POST", "/api/workspace-views"],
      ["POST", "/api/auth/switch-organization"],
      ["GET", "/api/orgs/memberships"],
      ["POST", "/api/orgs/current-user"],
      ["GET", `/api/orgs/${orgId}/seats`],
      ["GET", `/api/orgs/${orgId}/audit`],
      ["DELETE", `/api/orgs/${orgId}`],
      ["GET", `/api/runs/${run.id}/stop-signal`],
    ] as const) {
      const answer = await browser.call(method, path, method === "GET" ? {} : { body: {} });
      expect([method, path, answer.status]).toEqual([method, path, 403]);
    }
    expect((await browser.post("/api/embed/sessions", {})).status).toBe(401);
  });

  test("keeps to the key's project, and to what it may grant", async () => {
    const { orgId, key: ingest } = await stack().organization();
    const mine = (await stack().api.as(ingest).post("/runs", { project: "mine" })).json.run;
    const other = (await stack().api.as(ingest).post("/runs", { project: "other" })).json.run;
    const path = `/api/orgs/${orgId}/api-keys`;
    const wish = { scopes: ["export:read"], project: "mine" };
    const made = (await stack().api.post(path, wish, asOperator(stack()))).json;
    const browser = openBrowser(stack().baseUrl);
    const { json } = await browser.post("/api/auth/api-key", { api_key: made.api_key });
    expect(json.session.metadata).toEqual({ scopes: ["export:read"], project_id: mine.project_id });
    expect((await browser.get(`/runs/${mine.id}`)).status).toBe(200);
    expect((await browser.get(`/runs/${other.id}`)).status).toBe(404);
    const manager = await signedIn(["api_keys:write", "export:read"]);
    const keys = `/api/orgs/${manager.orgId}/api-keys`;
    expect((await manager.browser.post(keys, { scopes: ["sdk:ingest"] })).status).toBe(403);
    expect((await manager.browser.post(keys, { scopes: ["export:read"] })).status).toBe(200);
  });

  test("ends with the key", async () => {
    const { orgId, key, browser, text } = await signedIn(["export:read"]);
    expect((await browser.get("/runs")).status).toBe(200);
    await stack().api.post(`/api/orgs/${orgId}/api-keys/${key.id}/revoke`, {}, asOperator(stack()));
    expect((await browser.get("/runs")).status).toBe(401);
    expect((await browser.get("/api/auth/session")).json).toEqual({ authenticated: false });
    expect((await openBrowser(stack().baseUrl).post("/api/auth/api-key", { api_key: text })).status).toBe(401);
  });

  test("can be signed out; the key stays valid", async () => {
    const { browser, text } = await signedIn(["export:read"]);
    const token = browser.token();
    expect((await browser.post("/api/auth/logout")).json).toEqual({ authenticated: false });
    expect((await stack().api.get("/runs", { headers: { cookie: `${sessionCookie}=${token}` } })).status).toBe(401);
    expect((await stack().api.as(text).get("/runs")).status).toBe(200);
  });

  test.each([
    ["/api/auth/api-key", "api_key", 400, {}],
    ["/api/auth/api-key", "api_key", 400, { api_key: 5 }],
    ["/api/auth/api-key", "api_key", 400, { api_key: " " }],
    ["/api/auth/api-key", undefined, 401, { api_key: "tm_0123456789ab_wrong" }],
    ["/api/auth/one-time", "token", 400, {}],
    ["/api/auth/one-time", "token", 400, { token: null }],
    ["/api/auth/one-time", undefined, 401, { token: "tm_once_0123456789ab_wrong" }],
    ["/api/auth/invitation", "token", 400, {}],
    ["/api/auth/invitation", undefined, 404, { token: "tm_invite_0123456789ab_wrong" }],
  ] as const)("POST %s: fault of %s, %d", async (path, field, status, body) => {
    const answer = await openBrowser(stack().baseUrl).post(path, body);
    expect([answer.status, answer.json.field]).toEqual([status, field]);
    expect(cookiesSetBy(answer)).toEqual([]);
  });

  test.each(["/api/auth/api-key", "/api/auth/one-time"])(
    "POST %s takes no Origin of another site, and a small body only",
    async (path) => {
      const { key } = await stack().organization();
      const body = { api_key: key, token: key };
      expect((await stack().api.post(path, body)).status).toBe(path.endsWith("/api-key") ? 200 : 401);
      expect((await stack().api.post(path, body, { headers: { origin: "https://evil.example" } })).status).toBe(403);
      const large = { ...body, padding: "x".repeat(8192) };
      expect((await openBrowser(stack().baseUrl).post(path, large)).status).toBe(413);
    },
  );

  test("the token of a local start opens nothing to who is not on the machine", async () => {
    const { baseUrl } = stack();
    const body = { token: "tm_once_0123456789ab_wrong" };
    const elsewhere: Record<string, string>[] = [
      { host: "tidemark.example", origin: "http://tidemark.example" },
      { forwarded: "for=192.0.2.1" },
    ];
    for (const headers of elsewhere) {
      const answer = await stack().api.post("/api/auth/one-time", body, { headers: { origin: baseUrl, ...headers } });
      expect(answer.status).toBe(401);
    }
    const config = await stack().api.get("/api/auth/config", { headers: { host: "tidemark.example" } });
    expect(config.json).toMatchObject({ api_key_enabled: true, one_time_enabled: false });
  });
});
