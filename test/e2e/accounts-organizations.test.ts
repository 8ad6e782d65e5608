import { expect, test } from "@jest/globals";
import { randomUUID } from "node:crypto";
import { openBrowser, asOperator, createTeam, newEmail, newName, signIn } from "../stack/people.ts";
import { describeModes } from "../stack/modes.ts";

const RFC3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/;
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

type Seat = { membership: { role: string; status: string }; user: { primary_email: string } };

describeModes("organizations and their seats", (stack) => {
  test("the memberships of a user list their organizations, their roles and the current organization", async () => {
    const team = await createTeam(stack(), "pro");
    const { browser } = await team.join("viewer");
    const { memberships } = (await browser.get("/api/orgs/memberships")).json;
    expect(memberships).toHaveLength(2);
    expect(memberships).toContainEqual({
      org_id: team.orgId,
      name: team.name,
      slug: team.name,
      plan_tier: "pro",
      role: "viewer",
      status: "active",
      member_count: 2,
      is_current: true,
    });
    expect(memberships).toContainEqual(expect.objectContaining({ role: "owner", member_count: 1, is_current: false }));
    const owners = (await team.owner.browser.get("/api/orgs/memberships")).json.memberships;
    expect(owners).toMatchObject([{ org_id: team.orgId, role: "owner", is_current: true }]);
  });

  test("every caller can check whether a name is free", async () => {
    const name = newName();
    const ask = async (text: string) => stack().api.get(`/api/orgs/name-availability?name=${encodeURIComponent(text)}`);
    expect(await ask(` ${name.toUpperCase()} & Co `)).toMatchObject({
      status: 200,
      json: { slug: `${name}-co`, available: true },
    });
    const { orgId } = await signIn(stack(), { org_name: name });
    const taken = await ask(name);
    expect(taken).toMatchObject({ status: 200, json: { name, slug: name, available: false } });
    expect(taken.json.message).toEqual(expect.any(String));
    expect(taken.text).not.toContain(orgId);
    expect((await stack().api.get("/api/orgs/name-availability")).status).toBe(400);
    expect((await ask("x".repeat(513))).status).toBe(400);
  });

  test("a signed-in user creates their own business, and is in it", async () => {
    const { browser, userId, orgId: personal } = await signIn(stack());
    const name = newName();
    const guest = newEmail();
    const answer = await browser.post("/api/orgs/current-user", {
      name,
      account_type: "business",
      initial_invitations: [{ email: guest, role: "viewer" }],
    });
    expect(answer.status).toBe(200);
    const { organization } = answer.json;
    expect(organization).toMatchObject({ name, slug: name, account_type: "business", created_by_user_id: userId });
    expect(answer.json.membership).toMatchObject({ org_id: organization.id, user_id: userId, role: "owner" });
    expect(answer.json).toMatchObject({ billing_checkout: null, onboarding_api_key: null });
    const orgs: { org_id: string }[] = answer.json.memberships;
    expect(new Set(orgs.map(({ org_id: id }) => id))).toEqual(new Set([personal, organization.id]));
    expect(answer.json.invitations).toHaveLength(1);
    expect(JSON.stringify(answer.json.invitations[0])).toContain(guest);
    expect(answer.json.session).toMatchObject({
      authenticated: true,
      session: { org_id: organization.id, user_id: userId },
    });
    expect((await browser.get("/api/auth/session")).json.organization.id).toBe(organization.id);
    const pending = (await browser.get(`/api/orgs/${organization.id}/invitations`)).json.invitations;
    expect(pending).toMatchObject([{ email: guest, role: "viewer", status: "pending" }]);
  });

  test("a name may be in any script; its slug is plain", async () => {
    const { browser } = await signIn(stack());
    const name = `Лаборатория «${newName()}» 実験室`;
    const { organization } = (await browser.post("/api/orgs/current-user", { name, account_type: "business" })).json;
    expect(organization).toMatchObject({ name, slug: expect.stringMatching(/^[a-z0-9-]{1,63}$/) });
    const foreign = await browser.post("/api/orgs/current-user", { name: "実験室", account_type: "business" });
    expect(foreign).toMatchObject({
      status: 200,
      json: { organization: { name: "実験室", slug: expect.stringMatching(/^[a-z0-9-]{1,63}$/) } },
    });
  });

  test("with switch_on_create false the session stays where it is", async () => {
    const { browser, orgId } = await signIn(stack());
    const body = { name: newName(), account_type: "business", switch_on_create: false };
    const made = await browser.post("/api/orgs/current-user", body);
    expect(made).toMatchObject({ status: 200, json: { session: null, invitations: [] } });
    expect((await browser.get("/api/auth/session")).json.organization.id).toBe(orgId);
    const next = await browser.post("/api/auth/switch-organization", { org_id: made.json.organization.id });
    expect(next).toMatchObject({ status: 200, json: { membership: { role: "owner" } } });
  });

  test("a name that is taken is 409, and nothing is created", async () => {
    const { browser } = await signIn(stack());
    const { name } = await createTeam(stack());
    const answer = await browser.post("/api/orgs/current-user", { name, account_type: "business" });
    expect(answer).toMatchObject({ status: 409, json: { error: expect.any(String) } });
    expect((await browser.get("/api/orgs/memberships")).json.memberships).toHaveLength(1);
  });

  test.each([
    ["no name", { account_type: "business" }],
    ["a blank name", { name: "  ", account_type: "business" }],
    ["a kind of account that operators make", { name: newName(), account_type: "customer" }],
    ["an unknown plan", { name: newName(), plan_tier: "gold" }],
    ["invitations that are not a list", { name: newName(), initial_invitations: "x@y.test" }],
    ["an invitation as owner", { name: newName(), initial_invitations: [{ email: newEmail(), role: "owner" }] }],
    ["a choice that is not a boolean", { name: newName(), switch_on_create: "no" }],
  ])("making an organization with %s is 400, and nothing is created", async (_what, body) => {
    const { browser } = await signIn(stack());
    const answer = await browser.post("/api/orgs/current-user", body);
    expect(answer).toMatchObject({ status: 400, json: { error: expect.any(String) } });
    expect((await browser.get("/api/orgs/memberships")).json.memberships).toHaveLength(1);
  });

  test("seats show who belongs here", async () => {
    const team = await createTeam(stack());
    const member = await team.join("member");
    const { seats } = (await team.owner.browser.get(`/api/orgs/${team.orgId}/seats`)).json;
    expect(seats).toHaveLength(2);
    const mine = seats.find(({ user }: Seat) => user.primary_email === member.email);
    expect(mine.membership).toEqual({
      id: expect.stringMatching(UUID),
      org_id: team.orgId,
      user_id: member.userId,
      role: "member",
      status: "active",
      created_at: expect.stringMatching(RFC3339),
    });
    expect(mine.user).toMatchObject({ id: member.userId, primary_email: member.email });
  });

  test("a seat that is given waits for its person, who finds it on signing in", async () => {
    const team = await createTeam(stack());
    const email = newEmail();
    const given = await team.owner.browser.post(`/api/orgs/${team.orgId}/seats`, { email, role: "viewer" });
    expect(given).toMatchObject({
      status: 200,
      json: {
        seat: { membership: { org_id: team.orgId, role: "viewer", status: "invited" }, user: { primary_email: email } },
      },
    });
    const guest = await signIn(stack(), { email, accept_invite_org_id: team.orgId });
    expect(guest.orgId).toBe(team.orgId);
    expect((await guest.browser.get("/api/auth/session")).json.membership).toMatchObject({
      role: "viewer",
      status: "active",
    });
    expect((await guest.browser.post("/runs", {})).status).toBe(403);
    expect((await guest.browser.get("/runs")).status).toBe(200);
  });

  test("a user with several pending seats has to name one: 409 multiple_pending_invites", async () => {
    const [first, second] = [await createTeam(stack()), await createTeam(stack())];
    const email = newEmail();
    for (const { orgId, owner } of [first, second]) {
      await owner.browser.post(`/api/orgs/${orgId}/seats`, { email, role: "member" });
    }
    const guest = openBrowser(stack().baseUrl);
    expect(await guest.post("/api/auth/dev/google", { email })).toMatchObject({
      status: 409,
      json: { code: "multiple_pending_invites" },
    });
    expect(guest.token()).toBeUndefined();
    const named = await guest.post("/api/auth/dev/google", { email, accept_invite_org_id: second.orgId });
    expect(named).toMatchObject({ status: 200, json: { organization: { id: second.orgId } } });
  });

  test("a pending seat cannot be taken by another user", async () => {
    const team = await createTeam(stack());
    const guest = openBrowser(stack().baseUrl);
    const wish = { email: newEmail(), accept_invite_org_id: team.orgId };
    const answer = await guest.post("/api/auth/dev/google", wish);
    expect([403, 404]).toContain(answer.status);
    expect(guest.token()).toBeUndefined();
    expect((await team.owner.browser.get(`/api/orgs/${team.orgId}/seats`)).json.seats).toHaveLength(1);
  });

  test("a user who signs up for a business can give seats with the same request", async () => {
    const guest = newEmail();
    const wish = { org_name: newName(), account_type: "business", seat_emails: [guest] };
    const { browser, orgId } = await signIn(stack(), wish);
    const { seats } = (await browser.get(`/api/orgs/${orgId}/seats`)).json;
    expect(seats).toHaveLength(2);
    expect(seats.find(({ user }: Seat) => user.primary_email === guest).membership.status).toBe("invited");
  });

  test.each([
    ["no address", {}],
    ["an invalid address", { email: "x" }],
    ["a role that does not exist", { email: newEmail(), role: "king" }],
    ["a role that is not a text", { email: newEmail(), role: 1 }],
  ])("a seat with %s is 400", async (_what, body) => {
    const team = await createTeam(stack());
    const path = `/api/orgs/${team.orgId}/seats`;
    expect((await team.owner.browser.post(path, body)).status).toBe(400);
    expect((await team.owner.browser.get(path)).json.seats).toHaveLength(1);
  });

  test("the operator gives and sees seats as well, and pages them", async () => {
    const team = await createTeam(stack());
    const path = `/api/orgs/${team.orgId}/seats`;
    expect((await stack().api.post(path, { email: newEmail() }, asOperator(stack()))).status).toBe(200);
    const list = async (query: string): Promise<Seat[]> =>
      (await stack().api.get(`${path}${query}`, asOperator(stack()))).json.seats;
    const all = await list("");
    expect(all).toHaveLength(2);
    expect([...(await list("?limit=1")), ...(await list("?limit=1&offset=1"))]).toEqual(all);
    for (const query of ["?limit=0", "?limit=x", "?offset=-1"]) {
      expect((await stack().api.get(`${path}${query}`, asOperator(stack()))).status).toBe(400);
    }
  });

  test("another organization's people are as if it did not exist", async () => {
    const victim = await createTeam(stack());
    const { owner } = await createTeam(stack());
    for (const rest of ["seats", "invitations"]) {
      const foreign = await owner.browser.get(`/api/orgs/${victim.orgId}/${rest}`);
      const absent = await owner.browser.get(`/api/orgs/${randomUUID()}/${rest}`);
      expect([rest, foreign.status, foreign.text]).toEqual([rest, 404, absent.text]);
      const body = { email: newEmail(), role: "admin" };
      expect((await owner.browser.post(`/api/orgs/${victim.orgId}/${rest}`, body)).status).toBe(404);
      expect((await owner.browser.post(`/api/orgs/${victim.orgId}/${rest}`, { role: 1 })).status).toBe(404);
      expect((await owner.browser.get(`/api/orgs/none/${rest}`)).status).toBe(404);
    }
    expect((await victim.owner.browser.get(`/api/orgs/${victim.orgId}/seats`)).json.seats).toHaveLength(1);
  });
});
