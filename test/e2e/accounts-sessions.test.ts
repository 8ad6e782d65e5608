import { expect, test } from "@jest/globals";
import { randomUUID } from "node:crypto";
import { cookiesSetBy, openBrowser, sessionCookie, createTeam, newEmail, newName, signIn } from "../stack/people.ts";
import { describeModes } from "../stack/modes.ts";

const RFC3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/;
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const DAY_MS = 24 * 60 * 60 * 1000;

describeModes("browser sessions", (stack) => {
  const cookieOf = (token: string | undefined) => ({ cookie: `${sessionCookie}=${token}` });

  test("GET /api/auth/config says how one may sign in, without credentials", async () => {
    expect(await stack().api.get("/api/auth/config")).toMatchObject({
      status: 200,
      json: {
        dev_auth_enabled: true,
        managed_clerk_enabled: false,
        oidc_enabled: false,
        api_key_enabled: true,
        one_time_enabled: true,
        invitation_enabled: true,
        service_plane: expect.any(String),
      },
    });
  });

  test("a new user who signs in gets their own organization", async () => {
    const browser = openBrowser(stack().baseUrl);
    const email = newEmail();
    const answer = await browser.post("/api/auth/dev/google", { email, display_name: "Grace" });
    expect(answer.status).toBe(200);
    const { json } = answer;
    expect(json).toMatchObject({
      authenticated: true,
      user: { id: expect.stringMatching(UUID), primary_email: email, display_name: "Grace", avatar_url: null },
      organization: { account_type: "personal", plan_tier: "free", seat_limit: 1, created_by_user_id: json.user.id },
      account_type: "personal",
      provisioning: { status: "ready", mode: "database", service_id: null },
    });
    expect(json.session).toHaveProperty("last_seen_at");
    expect(json.session).toMatchObject({
      id: expect.stringMatching(UUID),
      user_id: json.user.id,
      org_id: json.organization.id,
      metadata: {},
      created_at: expect.stringMatching(RFC3339),
      expires_at: expect.stringMatching(RFC3339),
      revoked_at: null,
    });
    const lifeDays = (Date.parse(json.session.expires_at) - Date.parse(json.session.created_at)) / DAY_MS;
    expect(lifeDays).toBeCloseTo(30, 2);
    expect(json.membership).toEqual({
      id: expect.stringMatching(UUID),
      org_id: json.organization.id,
      user_id: json.user.id,
      role: "owner",
      status: "active",
      created_at: expect.stringMatching(RFC3339),
    });
    expect(json.memberships).toMatchObject([{ org_id: json.organization.id, role: "owner" }]);
    const session = await browser.get("/api/auth/session");
    expect(session.json).toMatchObject({
      authenticated: true,
      session: { id: json.session.id },
      user: { id: json.user.id },
    });
    expect(session.json.organization).toEqual(json.organization);
    expect(session.json.membership).toEqual(json.membership);
  });

  test("the cookie is for this host alone, no script reads it, and the body does not hold it", async () => {
    const browser = openBrowser(stack().baseUrl);
    const answer = await browser.post("/api/auth/dev/google", { email: newEmail() });
    const cookies = cookiesSetBy(answer);
    expect(cookies).toHaveLength(1);
    const [pair = "", ...attributes] = cookies[0]!.split(/;\s*/);
    expect(pair).toMatch(/^tidemark_session=tm_session_\w+$/);
    expect(attributes.map((attribute) => attribute.toLowerCase()).toSorted()).toEqual([
      "httponly",
      "max-age=2592000",
      "path=/",
      "samesite=lax",
    ]);
    expect(answer.text).not.toContain(browser.token());
  });

  test("when people connect from other machines, the cookie is sent over TLS only", async () => {
    const headers = { host: "tidemark.example", origin: "http://tidemark.example" };
    const answer = await stack().api.post("/api/auth/logout", {}, { headers });
    expect(answer.status).toBe(200);
    expect(cookiesSetBy(answer)).toEqual([expect.stringMatching(/; Secure(;|$)/i)]);
  });

  test("signing in by an address alone is refused from other machines, and by another name of this one", async () => {
    const headers = { host: "tidemark.example", origin: "http://tidemark.example" };
    const answer = await stack().api.post("/api/auth/dev/google", { email: newEmail() }, { headers });
    expect([answer.status, cookiesSetBy(answer)]).toEqual([401, []]);
  });

  test("twenty simultaneous sign-ins of a new user create one person and one organization", async () => {
    const email = newEmail();
    const people = await Promise.all(Array.from({ length: 20 }, () => signIn(stack(), { email })));
    expect(new Set(people.map(({ userId }) => userId)).size).toBe(1);
    expect(new Set(people.map(({ orgId }) => orgId)).size).toBe(1);
    for (const { browser } of people) {
      expect((await browser.get("/api/orgs/memberships")).json.memberships).toHaveLength(1);
    }
  });

  test("a known user who signs in again is in the organization they have, under a new session", async () => {
    const first = await signIn(stack());
    const again = await signIn(stack(), { email: first.email.toUpperCase() });
    expect([again.userId, again.orgId]).toEqual([first.userId, first.orgId]);
    expect(again.browser.token()).not.toBe(first.browser.token());
    expect((await first.browser.get("/runs")).status).toBe(200);
  });

  test("a new organization has the name that was requested, once", async () => {
    const name = newName();
    const made = await signIn(stack(), { org_name: name, account_type: "business" });
    const { organization } = (await made.browser.get("/api/auth/session")).json;
    expect(organization).toMatchObject({ name, slug: name, account_type: "business" });
    const late = openBrowser(stack().baseUrl);
    expect((await late.post("/api/auth/dev/google", { email: newEmail(), org_name: name })).status).toBe(409);
    expect(late.token()).toBeUndefined();
  });

  test.each([
    ["no address", {}, 400],
    ["an invalid address", { email: "grace" }, 400],
    ["an address that is not a text", { email: ["a@b.test"] }, 400],
    ["a kind of account that does not exist", { email: newEmail(), account_type: "royal" }, 400],
    ["a plan that does not exist", { email: newEmail(), plan_tier: "gold" }, 400],
    ["a paid plan, which cannot be paid here", { email: newEmail(), plan_tier: "pro" }, 503],
  ])("signing in with %s is refused and sets no cookie", async (_what, body, status) => {
    const answer = await openBrowser(stack().baseUrl).post("/api/auth/dev/google", body);
    expect(answer).toMatchObject({ status, json: { error: expect.any(String) } });
    if (status === 503) expect(answer.json.code).toBe("billing_unavailable");
    expect(cookiesSetBy(answer)).toEqual([]);
  });

  test("GET /api/auth/session is 200 without credentials, and says that the caller is not signed in", async () => {
    const { browser } = await signIn(stack());
    const token = browser.token()!;
    const altered = `${token.slice(0, -1)}${token.endsWith("a") ? "b" : "a"}`;
    for (const headers of [{}, cookieOf("nonsense"), cookieOf(""), cookieOf(altered)]) {
      const answer = await stack().api.get("/api/auth/session", { headers });
      expect([answer.status, answer.json]).toEqual([200, { authenticated: false }]);
    }
  });

  test("a session reads and writes as a key does", async () => {
    const { browser, orgId } = await signIn(stack());
    const made = await browser.post("/runs", { project: "p" });
    expect(made).toMatchObject({ status: 200, json: { run: { org_id: orgId } } });
    const { id } = made.json.run;
    expect((await browser.post(`/runs/${id}/metrics`, { metrics: { loss: 1 }, step: 0 })).status).toBe(200);
    expect((await browser.post(`/api/runs/${id}/logs`, { lines: [{ line_number: 1, message: "x" }] })).status).toBe(
      200,
    );
    expect((await browser.patch(`/runs/${id}`, { status: "finished" })).status).toBe(200);
    expect((await browser.get(`/runs/${id}`)).json.run).toMatchObject({ status: "finished", metric_keys: ["loss"] });
    expect((await browser.post("/projects", { name: "q" })).status).toBe(200);
  });

  test("signing out ends the session permanently, even for a client that kept the cookie", async () => {
    const { browser } = await signIn(stack());
    const kept = cookieOf(browser.token());
    expect((await stack().api.get("/runs", { headers: kept })).status).toBe(200);
    const out = await browser.call("POST", "/api/auth/logout");
    expect([out.status, out.json]).toEqual([200, { authenticated: false }]);
    const cleared = cookiesSetBy(out).find((line) => line.startsWith(`${sessionCookie}=`));
    expect(cleared).toMatch(/^tidemark_session=;.*(Max-Age=0|Expires=Thu, 01 Jan 1970)/i);
    expect(browser.token()).toBeUndefined();
    expect((await stack().api.get("/runs", { headers: kept })).status).toBe(401);
    expect((await stack().api.get("/api/auth/session", { headers: kept })).json).toEqual({ authenticated: false });
  });

  test("signing out without a session is not an error, and other sessions continue", async () => {
    const first = await signIn(stack());
    const second = await signIn(stack(), { email: first.email });
    await second.browser.post("/api/auth/logout");
    expect((await second.browser.post("/api/auth/logout")).json).toEqual({ authenticated: false });
    expect((await first.browser.get("/runs")).status).toBe(200);
  });

  test("switching leads to another organization of the same person", async () => {
    const team = await createTeam(stack());
    const { browser, userId } = await team.join("member");
    const { id } = (await team.owner.browser.post("/runs", {})).json.run;
    const { memberships } = (await browser.get("/api/orgs/memberships")).json;
    const own = memberships.find((row: { role: string }) => row.role === "owner").org_id;
    expect((await browser.get(`/runs/${id}`)).status).toBe(200);

    const away = await browser.post("/api/auth/switch-organization", { org_id: own });
    expect(away).toMatchObject({
      status: 200,
      json: { authenticated: true, organization: { id: own }, user: { id: userId }, session: { org_id: own } },
    });
    expect(away.json.membership).toMatchObject({ org_id: own, role: "owner" });
    expect((await browser.get(`/runs/${id}`)).status).toBe(404);
    const back = await browser.post("/api/auth/switch-organization", { org_id: team.orgId });
    expect(back.json.membership).toMatchObject({ org_id: team.orgId, role: "member" });
    expect((await browser.get(`/runs/${id}`)).status).toBe(200);
  });

  test("switching to where one does not belong is 403, whether or not it exists, and changes nothing", async () => {
    const { orgId: foreign } = await stack().organization();
    const { browser, orgId } = await signIn(stack());
    const refused = await browser.post("/api/auth/switch-organization", { org_id: foreign });
    const absent = await browser.post("/api/auth/switch-organization", { org_id: randomUUID() });
    expect([refused.status, refused.text]).toEqual([403, absent.text]);
    for (const body of [{}, { org_id: 7 }, { org_id: "acme" }]) {
      expect((await browser.post("/api/auth/switch-organization", body)).status).toBe(400);
    }
    expect((await browser.get("/api/auth/session")).json.organization.id).toBe(orgId);
  });

  test("a key in Authorization wins over the cookie, and needs no origin", async () => {
    const { browser, orgId } = await signIn(stack());
    const key = await stack().organization();
    const both = { headers: cookieOf(browser.token()) };
    const made = await key.api.post("/runs", {}, both);
    expect(made).toMatchObject({ status: 200, json: { run: { org_id: key.orgId } } });
    expect(key.orgId).not.toBe(orgId);
    expect((await key.api.get(`/runs/${made.json.run.id}`, both)).status).toBe(200);
    expect((await browser.get(`/runs/${made.json.run.id}`)).status).toBe(404);
  });

  test.each([
    ["a key that does not exist", "Bearer tm_000000000000_00000000000000000000000000000000_000000"],
    ["another scheme", "Basic dTpw"],
    ["a scheme alone", "Bearer"],
  ])("%s is 401 although the cookie is good", async (_what, authorization) => {
    const { browser } = await signIn(stack());
    expect((await browser.get("/runs", { headers: { authorization } })).status).toBe(401);
    expect((await browser.get("/runs")).status).toBe(200);
  });

  test("a session is not a bearer token, and a key is not a cookie", async () => {
    const { browser } = await signIn(stack());
    const { key } = await stack().organization();
    expect((await stack().api.get("/runs", { headers: { authorization: `Bearer ${browser.token()}` } })).status).toBe(
      401,
    );
    expect((await stack().api.get("/runs", { headers: cookieOf(key) })).status).toBe(401);
  });

  test("the scheme is read in lower case too", async () => {
    const { key } = await stack().organization();
    expect((await stack().api.get("/runs", { headers: { authorization: `bearer ${key}` } })).status).toBe(200);
  });
});

describeModes(
  "an installation that is not for development",
  (stack) => {
    test("signing in by an address alone is 401, and the configuration says so", async () => {
      expect((await stack().api.get("/api/auth/config")).json).toMatchObject({ dev_auth_enabled: false });
      const answer = await openBrowser(stack().baseUrl).post("/api/auth/dev/google", { email: newEmail() });
      expect(answer).toMatchObject({ status: 401, json: { error: expect.any(String) } });
      expect(cookiesSetBy(answer)).toEqual([]);
    });
  },
  { TIDEMARK_DEV_AUTH: "false" },
);
