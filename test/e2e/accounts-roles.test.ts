import { expect, test } from "@jest/globals";
import {
  sessionCookie,
  type Browser,
  createTeam,
  newEmail,
  newName,
  signIn,
  type Role,
  type Team,
} from "../stack/people.ts";
import type { Answer } from "../stack/client.ts";
import { describeModes } from "../stack/modes.ts";

const everyScope = [
  "sdk:ingest",
  "export:read",
  "runs:control",
  "artifacts:write",
  "artifacts:manage",
  "imports:write",
  "usage:read",
  "api_keys:write",
];

describeModes("the origins of a session's changes", (stack) => {
  const headersOf = (browser: Browser, origin: string | undefined, site?: string): Record<string, string> => ({
    cookie: `${sessionCookie}=${browser.token()}`,
    ...(origin === undefined ? {} : { origin }),
    ...(site === undefined ? {} : { "sec-fetch-site": site }),
  });
  const runsOf = async (browser: Browser): Promise<number> => (await browser.get("/runs")).json.runs.length;

  test.each([
    ["none", undefined],
    ["another site", "https://evil.test"],
    ["an opaque one", "null"],
    ["a name that begins like localhost", "http://localhost.evil.test"],
    ["a name that begins like the loopback address", "http://127.0.0.1.evil.test"],
    ["a user called localhost elsewhere", "http://localhost@evil.test"],
    ["no origin at all in it", "localhost"],
  ])("an origin that is %s is 403 for every change, and nothing changes", async (_what, origin) => {
    const { browser } = await signIn(stack());
    const headers = headersOf(browser, origin);
    for (const path of ["/runs", "/projects", "/api/auth/logout", "/api/auth/switch-organization"]) {
      const answer = await stack().api.post(path, {}, { headers });
      expect([path, answer.status, typeof answer.json.error]).toEqual([path, 403, "string"]);
    }
    expect(await runsOf(browser)).toBe(0);
    expect((await stack().api.get("/runs", { headers })).status).toBe(200);
  });

  test.each([
    ["http://localhost:3000"],
    ["http://localhost"],
    ["http://127.0.0.1:5173"],
    ["https://localhost:8443"],
    ["http://[::1]:4000"],
  ])("the loopback origin %s is fine", async (origin) => {
    const { browser } = await signIn(stack());
    expect((await stack().api.post("/runs", {}, { headers: headersOf(browser, origin) })).status).toBe(200);
  });

  test("the server's own host is accepted under any name", async () => {
    const { browser } = await signIn(stack());
    const headers = { ...headersOf(browser, "http://tidemark.example:8080"), host: "tidemark.example:8080" };
    expect((await stack().api.post("/runs", {}, { headers })).status).toBe(200);
    const other = { ...headersOf(browser, "http://tidemark.example:9090"), host: "tidemark.example:8080" };
    expect((await stack().api.post("/runs", {}, { headers: other })).status).toBe(403);
    expect(await runsOf(browser)).toBe(1);
  });

  test("a change that the browser itself calls cross-site is 403 in spite of a good origin", async () => {
    const { browser } = await signIn(stack());
    const from = (site: string) =>
      stack().api.post("/runs", {}, { headers: headersOf(browser, stack().baseUrl, site) });
    expect((await from("cross-site")).status).toBe(403);
    expect((await from("same-origin")).status).toBe(200);
    expect((await from("same-site")).status).toBe(200);
    expect(await runsOf(browser)).toBe(2);
  });

  test("signing in needs a good origin too", async () => {
    const wrong: Record<string, string>[] = [
      {},
      { origin: "https://evil.test" },
      { origin: stack().baseUrl, "sec-fetch-site": "cross-site" },
    ];
    for (const headers of wrong) {
      const answer = await stack().api.post("/api/auth/dev/google", { email: newEmail() }, { headers });
      expect([answer.status, answer.headers["set-cookie"]]).toEqual([403, undefined]);
    }
  });

  test("a key is accepted from any origin", async () => {
    const { api } = await stack().organization();
    const headers = { origin: "https://evil.test", "sec-fetch-site": "cross-site" };
    expect((await api.post("/runs", {}, { headers })).status).toBe(200);
  });
});

describeModes("roles", (stack) => {
  const personOf = async (team: Team, role: Role): Promise<Browser> =>
    (role === "owner" ? team.owner : await team.join(role)).browser;

  test.each([
    ["owner", true, true],
    ["admin", true, true],
    ["member", true, false],
    ["viewer", false, false],
  ] as const)("the role %s reads; writes runs: %s; manages people: %s", async (role, writes, manages) => {
    const team = await createTeam(stack());
    const { id } = (await team.owner.browser.post("/runs", { name: "first" })).json.run;
    const browser = await personOf(team, role);
    for (const path of ["/runs", `/runs/${id}`, "/projects", `/runs/${id}/metrics?key=a`, `/api/runs/${id}/logs`]) {
      expect([path, (await browser.get(path)).status]).toEqual([path, 200]);
    }
    expect((await browser.post("/api/metrics/series", { key: "a", run_ids: [id] })).status).toBe(200);

    const changes: [string, () => Promise<Answer>][] = [
      ["create a run", () => browser.post("/runs", {})],
      ["create a project", () => browser.post("/projects", { name: "p" })],
      ["change a run", () => browser.patch(`/runs/${id}`, { notes: "n" })],
      ["log a metric", () => browser.post(`/runs/${id}/metrics`, { metrics: { a: 1 }, step: 0 })],
      ["log lines", () => browser.post(`/api/runs/${id}/logs`, { lines: [{ line_number: 1, message: "x" }] })],
      ["log attributes", () => browser.post(`/api/runs/${id}/attributes`, { path: "p", type: "config", value: 1 })],
    ];
    for (const [what, change] of changes) {
      expect([what, (await change()).status]).toEqual([what, writes ? 200 : 403]);
    }
    const invitations = `/api/orgs/${team.orgId}/invitations`;
    expect((await browser.get(invitations)).status).toBe(manages ? 200 : 403);
    expect((await browser.post(invitations, { email: newEmail(), role: "viewer" })).status).toBe(manages ? 200 : 403);
    const seat = await browser.post(`/api/orgs/${team.orgId}/seats`, { email: newEmail(), role: "viewer" });
    expect(seat.status).toBe(manages ? 200 : 403);
  });

  test("a refused request of a viewer has no effect", async () => {
    const team = await createTeam(stack());
    const { id } = (await team.owner.browser.post("/runs", {})).json.run;
    const viewer = await personOf(team, "viewer");
    await viewer.patch(`/runs/${id}`, { status: "failed" });
    await viewer.post("/runs", {});
    const { runs } = (await team.owner.browser.get("/runs")).json;
    expect(runs).toMatchObject([{ id, status: "running" }]);
  });

  test("routes of people are closed to keys of every scope: 401, or 403 where operators have a way in too", async () => {
    const { api, orgId } = await stack().organization({ scopes: everyScope });
    const onlyPeople: [string, string, unknown?][] = [
      ["GET", "/api/orgs/memberships"],
      ["POST", "/api/orgs/current-user", { name: newName(), account_type: "business" }],
      ["POST", "/api/auth/switch-organization", { org_id: orgId }],
      ["POST", "/api/auth/device-code/confirm", { user_code: "ABCD-EFGH" }],
      ["POST", "/api/invitations/accept", { token: "tm_invite_x" }],
    ];
    for (const [method, path, body] of onlyPeople) {
      const headers = { origin: stack().baseUrl };
      const answer = await api.call(method, path, { headers, ...(body === undefined ? {} : { body }) });
      expect([path, answer.status]).toEqual([path, 401]);
    }
    expect((await api.get(`/api/orgs/${orgId}/invitations`)).status).toBe(403);
    const invite = { email: newEmail(), role: "member" };
    expect((await api.post(`/api/orgs/${orgId}/invitations`, invite)).status).toBe(403);
    expect([401, 403]).toContain((await api.get(`/api/orgs/${orgId}/seats`)).status);
    expect([401, 403]).toContain((await api.post(`/api/orgs/${orgId}/seats`, invite)).status);
  });
});
