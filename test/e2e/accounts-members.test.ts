import { expect, test } from "@jest/globals";
import { randomUUID } from "node:crypto";
import { describeModes } from "../stack/modes.ts";
import { asOperator, createTeam, signIn, type Person, type Team } from "../stack/people.ts";

describeModes("people who leave an organization", (stack) => {
  const seatOf = async ({ owner, orgId }: Team, { userId }: Pick<Person, "userId">): Promise<string> => {
    const { json } = await owner.browser.get(`/api/orgs/${orgId}/seats`);
    return json.seats.find((seat: { user: { id: string } }) => seat.user.id === userId).membership.id;
  };
  const pathOf = async (team: Team, person: Pick<Person, "userId">): Promise<string> =>
    `/api/orgs/${team.orgId}/seats/${await seatOf(team, person)}`;

  test("are removed: their session has ended, their seat is free, and a second time is 404", async () => {
    const team = await createTeam(stack());
    const member = await team.join("member");
    expect((await member.browser.get("/runs")).status).toBe(200);
    const path = await pathOf(team, member);
    const removed = await team.owner.browser.call("DELETE", path);
    expect([removed.status, removed.json]).toMatchObject([
      200,
      {
        seat: {
          membership: { user_id: member.userId, org_id: team.orgId, role: "member", status: "active" },
          user: { id: member.userId, primary_email: member.email },
        },
      },
    ]);
    // The process that answered knows it already.
    expect((await member.browser.get("/runs")).status).toBe(401);
    expect((await member.browser.get("/api/auth/session")).json).toEqual({ authenticated: false });
    expect((await team.owner.browser.call("DELETE", path)).status).toBe(404);
    expect((await team.owner.browser.patch(path, { role: "viewer" })).status).toBe(404);
    const { json } = await team.owner.browser.get(`/api/orgs/${team.orgId}/seats`);
    expect(json.seats).toHaveLength(1);
  });

  test("can still be in others", async () => {
    const team = await createTeam(stack());
    const own = await signIn(stack());
    const { email, userId } = own;
    await team.owner.browser.post(`/api/orgs/${team.orgId}/seats`, { email });
    await own.browser.post("/api/auth/switch-organization", { org_id: team.orgId });
    await team.owner.browser.call("DELETE", await pathOf(team, { userId }));
    const { browser } = await signIn(stack(), { email });
    expect((await browser.get("/api/orgs/memberships")).json.memberships).toMatchObject([{ org_id: own.orgId }]);
  });

  test("may be demoted instead, which limits their session immediately", async () => {
    const team = await createTeam(stack());
    const admin = await team.join("admin");
    const changed = await team.owner.browser.patch(await pathOf(team, admin), { role: "viewer" });
    expect([changed.status, changed.json.seat.membership.role]).toEqual([200, "viewer"]);
    expect((await admin.browser.post("/runs", {})).status).toBe(403);
    expect((await admin.browser.get("/runs")).status).toBe(200);
  });

  test("are never the last owner: 409 for leaving and for another role", async () => {
    const team = await createTeam(stack());
    const path = await pathOf(team, team.owner);
    for (const answer of [
      await team.owner.browser.call("DELETE", path),
      await team.owner.browser.patch(path, { role: "member" }),
    ]) {
      expect([answer.status, typeof answer.json.error]).toEqual([409, "string"]);
    }
    expect((await team.owner.browser.get("/runs")).status).toBe(200);
    const successor = await team.join("admin");
    expect((await team.owner.browser.patch(await pathOf(team, successor), { role: "owner" })).status).toBe(200);
    expect((await team.owner.browser.call("DELETE", path)).status).toBe(200);
    expect((await team.owner.browser.get("/runs")).status).toBe(401);
    expect((await successor.browser.get(`/api/orgs/${team.orgId}/seats`)).json.seats).toHaveLength(1);
  });

  test("are owners by the word of owners only: 403 for admins", async () => {
    const team = await createTeam(stack());
    const [admin, member] = [await team.join("admin"), await team.join("member")];
    const ownerPath = await pathOf(team, team.owner);
    const memberPath = await pathOf(team, member);
    expect((await admin.browser.call("DELETE", ownerPath)).status).toBe(403);
    expect((await admin.browser.patch(ownerPath, { role: "member" })).status).toBe(403);
    expect((await admin.browser.patch(memberPath, { role: "owner" })).status).toBe(403);
    expect((await admin.browser.patch(memberPath, { role: "viewer" })).status).toBe(200);
    expect((await admin.browser.call("DELETE", memberPath)).status).toBe(200);
  });

  test("are not the business of members, keys and strangers", async () => {
    const team = await createTeam(stack());
    const [member, other] = [await team.join("member"), await createTeam(stack())];
    const path = await pathOf(team, member);
    const key = await team.owner.browser.post(`/api/orgs/${team.orgId}/api-keys`, {
      scopes: ["api_keys:write", "sdk:ingest"],
    });
    const by = stack().api.as(key.json.api_key ?? key.json.key?.plaintext ?? key.json.plaintext);
    for (const [who, status] of [
      [member.browser, 403],
      [by, 403],
      [other.owner.browser, 404],
      [stack().api.as(null), 401],
    ] as const) {
      expect((await who.call("DELETE", path)).status).toBe(status);
      expect((await who.call("PATCH", path, { body: { role: "viewer" } })).status).toBe(status);
    }
    expect((await member.browser.get("/runs")).status).toBe(200);
  });

  test("are managed by the operator too", async () => {
    const team = await createTeam(stack());
    const member = await team.join("member");
    const answer = await stack().api.call("DELETE", await pathOf(team, member), asOperator(stack()));
    expect(answer.status).toBe(200);
  });

  test.each([
    ["no role", {}],
    ["a role that there is not", { role: "boss" }],
    ["a role that is not a string", { role: 1 }],
  ])("a change to %s is 400", async (_, body) => {
    const team = await createTeam(stack());
    const member = await team.join("member");
    const answer = await team.owner.browser.patch(await pathOf(team, member), body);
    expect([answer.status, answer.json.field]).toEqual([400, "role"]);
  });

  test("an unknown seat is 404, even with a bad body", async () => {
    const { owner, orgId } = await createTeam(stack());
    for (const id of [randomUUID(), "x"]) {
      expect((await owner.browser.call("DELETE", `/api/orgs/${orgId}/seats/${id}`)).status).toBe(404);
      expect((await owner.browser.patch(`/api/orgs/${orgId}/seats/${id}`, { role: "boss" })).status).toBe(404);
    }
  });

  test("and all else that is done to them stand in the audit log, for owners and admins who are signed in", async () => {
    const team = await createTeam(stack());
    const [admin, member] = [await team.join("admin"), await team.join("member")];
    const membershipId = await seatOf(team, member);
    const path = `/api/orgs/${team.orgId}/audit`;
    expect((await member.browser.get(path)).status).toBe(403);
    const removed = await team.owner.browser.call("DELETE", `/api/orgs/${team.orgId}/seats/${membershipId}`);
    const { status, json } = await admin.browser.get(`${path}?limit=2`);
    expect([status, json.limit, json.events.length, typeof json.next_cursor]).toEqual([200, 2, 2, "string"]);
    expect(json.events[0]).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      at: expect.stringMatching(/Z$/),
      actor: { type: "user", id: team.owner.userId },
      action: "member.removed",
      target: { type: "membership", id: membershipId },
      request_id: removed.headers["x-request-id"],
    });
    const rest = (await admin.browser.get(`${path}?limit=1000&cursor=${json.next_cursor}`)).json;
    expect([rest.next_cursor, rest.events.at(-1).action, rest.events.at(-1).actor]).toEqual([
      null,
      "organization.created",
      { type: "operator", id: null },
    ]);
    for (const [query, field] of [
      ["limit=0", "limit"],
      ["limit=1001", "limit"],
      ["cursor=x", "cursor"],
    ]) {
      const answer = await admin.browser.get(`${path}?${query}`);
      expect([answer.status, answer.json.field]).toEqual([400, field]);
    }
    const key = await team.owner.browser.post(`/api/orgs/${team.orgId}/api-keys`, { scopes: ["api_keys:write"] });
    const byKey = stack().api.as(key.json.api_key ?? key.json.key?.plaintext ?? key.json.plaintext);
    expect((await byKey.get(path)).status).toBe(401);
    const stranger = await createTeam(stack());
    expect((await stranger.owner.browser.get(path)).status).toBe(404);
  });
});
