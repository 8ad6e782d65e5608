import { expect, test } from "@jest/globals";
import { randomUUID } from "node:crypto";
import {
  cookiesSetBy,
  sessionCookie,
  asOperator,
  createTeam,
  inviteTokenIn,
  newEmail,
  openBrowser,
  signIn,
  type Person,
  type Team,
} from "../stack/people.ts";
import { describeModes } from "../stack/modes.ts";
import { queryDatabase } from "../stack/attach.ts";

const RFC3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/;
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const DAY_MS = 24 * 60 * 60 * 1000;

describeModes("invitations", (stack) => {
  const pathOf = (team: Team): string => `/api/orgs/${team.orgId}/invitations`;
  const invite = async (team: Team, email = newEmail(), role = "member") => {
    const answer = await team.owner.browser.post(pathOf(team), { email, role });
    if (answer.status !== 200) throw new Error(`not invited: ${answer.status} ${answer.text}`);
    return { id: answer.json.invitation.id as string, email, token: inviteTokenIn(answer) };
  };
  const accept = ({ browser }: Person, token: string) => browser.post("/api/invitations/accept", { token });
  const preview = (token: unknown) => stack().api.post("/api/invitations/preview", { token });
  /** Sets a moment of an invitation back, as if time had passed. */
  const setBack = (id: string, column: "expires_at" | "last_sent_at", by: string) =>
    queryDatabase(stack(), `UPDATE control.invitations SET ${column} = ${column} - $2::interval WHERE id = $1`, [
      id,
      by,
    ]);

  test("the link signs its receiver in from a page of this site, once", async () => {
    const team = await createTeam(stack());
    const { email, token } = await invite(team, newEmail(), "viewer");
    const path = "/api/auth/invitation";
    // Another site could sign a person in as somebody else.
    expect((await stack().api.post(path, { token })).status).toBe(403);
    const foreign = { origin: "https://evil.example" };
    expect((await stack().api.post(path, { token }, { headers: foreign })).status).toBe(403);
    const browser = openBrowser(stack().baseUrl);
    const answer = await browser.post(path, { token });
    expect(answer).toMatchObject({
      status: 200,
      json: { user: { primary_email: email }, organization: { id: team.orgId }, membership: { role: "viewer" } },
    });
    expect(cookiesSetBy(answer)).toHaveLength(1);
    expect((await browser.get("/runs")).status).toBe(200);
    expect((await openBrowser(stack().baseUrl).post(path, { token })).status).toBe(409);
    const { token: known } = await invite(team, (await signIn(stack())).email);
    expect((await openBrowser(stack().baseUrl).post(path, { token: known })).status).toBe(403);
  });

  test("an invitation lasts seven days and shows the inviting person its link", async () => {
    const team = await createTeam(stack());
    const email = newEmail();
    const answer = await team.owner.browser.post(pathOf(team), { email, role: "admin" });
    expect(answer.status).toBe(200);
    const { invitation } = answer.json;
    expect(invitation).toEqual({
      id: expect.stringMatching(UUID),
      org_id: team.orgId,
      email,
      role: "admin",
      status: "pending",
      created_at: expect.stringMatching(RFC3339),
      expires_at: expect.stringMatching(RFC3339),
      last_sent_at: expect.stringMatching(RFC3339),
      accepted_at: null,
      revoked_at: null,
      delivery_status: expect.any(String),
    });
    expect((Date.parse(invitation.expires_at) - Date.parse(invitation.created_at)) / DAY_MS).toBeCloseTo(7, 2);
    expect(answer.json).toMatchObject({ preview_link: expect.any(String), delivery_error: null });
    const list = await team.owner.browser.get(pathOf(team));
    expect(list.json).toEqual({ invitations: [invitation], limit: 100, offset: 0 });
    expect(list.text).not.toContain("tm_invite_");
  });

  test("anyone with the token sees where it leads, without signing in and without the address", async () => {
    const team = await createTeam(stack());
    const { email, token } = await invite(team, newEmail(), "viewer");
    const answer = await preview(token);
    expect(answer.status).toBe(200);
    expect(answer.json.invitation).toEqual({
      org_name: team.name,
      email_hint: expect.any(String),
      role: "viewer",
      status: "pending",
      expires_at: expect.stringMatching(RFC3339),
    });
    expect(answer.text).not.toContain(email);
    expect(answer.text).not.toContain(team.orgId);
  });

  test("a person who accepts is a member immediately, with a new cookie", async () => {
    const team = await createTeam(stack());
    const guest = await signIn(stack());
    const { id, token } = await invite(team, guest.email.toUpperCase());
    const before = guest.browser.token();
    const answer = await accept(guest, token);
    expect(answer).toMatchObject({
      status: 200,
      json: {
        authenticated: true,
        organization: { id: team.orgId },
        membership: { role: "member", status: "active" },
        session: { org_id: team.orgId },
      },
    });
    expect(cookiesSetBy(answer)).toHaveLength(1);
    expect(guest.browser.token()).not.toBe(before);
    expect(await guest.browser.post("/runs", {})).toMatchObject({ status: 200, json: { run: { org_id: team.orgId } } });
    expect((await preview(token)).json.invitation.status).toBe("accepted");
    const { invitations } = (await team.owner.browser.get(pathOf(team))).json;
    expect(invitations).toMatchObject([{ id, status: "accepted", accepted_at: expect.stringMatching(RFC3339) }]);
    await accept(guest, token);
    expect((await team.owner.browser.get(`/api/orgs/${team.orgId}/seats`)).json.seats).toHaveLength(2);
  });

  test("ten simultaneous acceptances make one member", async () => {
    const team = await createTeam(stack());
    const guest = await signIn(stack());
    const { token } = await invite(team, guest.email);
    const headers = { origin: stack().baseUrl, cookie: `${sessionCookie}=${guest.browser.token()}` };
    const accepting = () => stack().api.post("/api/invitations/accept", { token }, { headers });
    const answers = await Promise.all(Array.from({ length: 10 }, accepting));
    expect(answers.some(({ status }) => status === 200)).toBe(true);
    expect(answers.filter(({ status }) => status >= 500)).toEqual([]);
    expect((await team.owner.browser.get(`/api/orgs/${team.orgId}/seats`)).json.seats).toHaveLength(2);
  });

  test("a new user accepts while signing in", async () => {
    const team = await createTeam(stack());
    const { email, token } = await invite(team, newEmail(), "viewer");
    const guest = await signIn(stack(), { email, accept_invite_token: token });
    expect(guest.orgId).toBe(team.orgId);
    const { memberships } = (await guest.browser.get("/api/orgs/memberships")).json;
    expect(memberships).toMatchObject([{ org_id: team.orgId, role: "viewer", status: "active" }]);
  });

  test("an invitation for another address is 403 invite_email_mismatch, and stays open", async () => {
    const team = await createTeam(stack());
    const { token } = await invite(team);
    const thief = await signIn(stack());
    expect(await accept(thief, token)).toMatchObject({ status: 403, json: { code: "invite_email_mismatch" } });
    expect((await thief.browser.get("/api/auth/session")).json.organization.id).toBe(thief.orgId);
    expect((await preview(token)).json.invitation.status).toBe("pending");
  });

  test("a token that is unknown, altered or of another kind is 404; none is 400", async () => {
    const team = await createTeam(stack());
    const { token } = await invite(team);
    const guest = await signIn(stack());
    const altered = `${token.slice(0, -1)}${token.endsWith("a") ? "b" : "a"}`;
    for (const wrong of [altered, "nonsense", guest.browser.token()!]) {
      expect((await preview(wrong)).status).toBe(404);
      expect((await accept(guest, wrong)).status).toBe(404);
    }
    for (const none of [undefined, null, 7]) {
      expect((await preview(none)).status).toBe(400);
      expect((await guest.browser.post("/api/invitations/accept", { token: none })).status).toBe(400);
    }
  });

  test("an invitation that has run out is 410 invite_expired", async () => {
    const team = await createTeam(stack());
    const guest = await signIn(stack());
    const { id, token } = await invite(team, guest.email);
    await setBack(id, "expires_at", "8 days");
    expect(await accept(guest, token)).toMatchObject({ status: 410, json: { code: "invite_expired" } });
    expect((await preview(token)).json.invitation.status).toBe("expired");
    expect((await guest.browser.get("/api/orgs/memberships")).json.memberships).toHaveLength(1);
    expect(await invite(team, guest.email)).toMatchObject({ email: guest.email });
  });

  test("inviting to a personal organization is 400 personal_workspace_invite_forbidden", async () => {
    const { browser, orgId } = await signIn(stack());
    const answer = await browser.post(`/api/orgs/${orgId}/invitations`, { email: newEmail(), role: "member" });
    expect(answer).toMatchObject({ status: 400, json: { code: "personal_workspace_invite_forbidden" } });
  });

  test("inviting a member again is 409 invite_already_member", async () => {
    const team = await createTeam(stack());
    const member = await team.join("viewer");
    for (const email of [member.email, team.owner.email]) {
      const answer = await team.owner.browser.post(pathOf(team), { email, role: "member" });
      expect(answer).toMatchObject({ status: 409, json: { code: "invite_already_member" } });
    }
  });

  test("an address that is invited already is 409 invite_already_pending, also twenty times simultaneously", async () => {
    const team = await createTeam(stack());
    const email = newEmail();
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => team.owner.browser.post(pathOf(team), { email, role: "member" })),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    const refused = answers.filter(({ status }) => status !== 200).map(({ status, json }) => [status, json.code]);
    expect(refused).toEqual(Array.from({ length: 19 }, () => [409, "invite_already_pending"]));
  });

  test("sending again within 15 minutes is 429 invite_resend_rate_limited; later it is sent and lasts seven days again", async () => {
    const team = await createTeam(stack());
    const guest = await signIn(stack());
    const { id } = await invite(team, guest.email);
    const resend = () => team.owner.browser.call("POST", `${pathOf(team)}/${id}/resend`);
    expect(await resend()).toMatchObject({ status: 429, json: { code: "invite_resend_rate_limited" } });
    await setBack(id, "last_sent_at", "15 minutes");
    await setBack(id, "expires_at", "6 days");
    const again = await resend();
    expect(again).toMatchObject({ status: 200, json: { invitation: { id, status: "pending" }, delivery_error: null } });
    expect(Date.parse(again.json.invitation.expires_at) - Date.now()).toBeGreaterThan(6.9 * DAY_MS);
    expect((await resend()).status).toBe(429);
    expect((await accept(guest, inviteTokenIn(again))).status).toBe(200);
  });

  test("a revoked invitation opens nothing, and is neither sent nor revoked again: 409", async () => {
    const team = await createTeam(stack());
    const guest = await signIn(stack());
    const { id, token } = await invite(team, guest.email);
    const revoked = await team.owner.browser.call("POST", `${pathOf(team)}/${id}/revoke`);
    expect(revoked).toMatchObject({
      status: 200,
      json: { invitation: { id, status: "revoked", revoked_at: expect.stringMatching(RFC3339) } },
    });
    expect([404, 409, 410]).toContain((await accept(guest, token)).status);
    expect((await guest.browser.get("/api/orgs/memberships")).json.memberships).toHaveLength(1);
    await setBack(id, "last_sent_at", "1 hour");
    for (const verb of ["revoke", "resend"]) {
      expect((await team.owner.browser.post(`${pathOf(team)}/${id}/${verb}`)).status).toBe(409);
    }
    expect((await invite(team, guest.email)).id).not.toBe(id);
  });

  test.each([
    ["no address", { role: "member" }],
    ["an invalid address", { email: "x", role: "member" }],
    ["the role of owner", { email: newEmail(), role: "owner" }],
    ["a role that does not exist", { email: newEmail(), role: "king" }],
  ])("an invitation with %s is 400", async (_what, body) => {
    const team = await createTeam(stack());
    expect(await team.owner.browser.post(pathOf(team), body)).toMatchObject({
      status: 400,
      json: { error: expect.any(String) },
    });
    expect((await team.owner.browser.get(pathOf(team))).json.invitations).toEqual([]);
  });

  test("an operator invites and lists; the list is paged", async () => {
    const team = await createTeam(stack());
    const operator = asOperator(stack());
    for (let made = 0; made < 3; made += 1) {
      const answer = await stack().api.post(pathOf(team), { email: newEmail(), role: "viewer" }, operator);
      expect(answer.status).toBe(200);
    }
    const list = async (query: string) => (await stack().api.get(`${pathOf(team)}${query}`, operator)).json;
    const { invitations: all } = await list("?limit=200");
    expect(all).toHaveLength(3);
    const [first, rest] = [await list("?limit=2"), await list("?limit=2&offset=2")];
    expect([...first.invitations, ...rest.invitations]).toEqual(all);
    expect(rest).toMatchObject({ limit: 2, offset: 2 });
    for (const query of ["?limit=0", "?limit=201", "?limit=x", "?offset=-1"]) {
      expect([query, (await stack().api.get(`${pathOf(team)}${query}`, operator)).status]).toEqual([query, 400]);
    }
  });

  test("an invitation that does not exist, or that another organization has, is 404", async () => {
    const victim = await createTeam(stack());
    const { id } = await invite(victim);
    const { owner, orgId } = await createTeam(stack());
    for (const verb of ["resend", "revoke"]) {
      const absent = await owner.browser.post(`/api/orgs/${orgId}/invitations/${randomUUID()}/${verb}`);
      const foreign = await owner.browser.post(`/api/orgs/${orgId}/invitations/${id}/${verb}`);
      expect([verb, foreign.status, foreign.text]).toEqual([verb, 404, absent.text]);
      expect((await owner.browser.post(`${pathOf(victim)}/${id}/${verb}`)).status).toBe(404);
      expect((await owner.browser.post(`/api/orgs/${orgId}/invitations/nonsense/${verb}`)).status).toBe(404);
    }
    expect((await victim.owner.browser.get(pathOf(victim))).json.invitations).toMatchObject([
      { id, status: "pending" },
    ]);
  });
});
