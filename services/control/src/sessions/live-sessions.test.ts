import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { randomUUID } from "node:crypto";
import { testSql } from "@tidemark/testkit";
import type { Call } from "@tidemark/rpc";
import {
  expectRefusal,
  newKey,
  newMember,
  newOrganization,
  signIn,
  startControl,
  type Control,
} from "../control.fixture.ts";

let control: Control;
beforeAll(async () => {
  control = await startControl();
});
afterAll(() => control.close());

const list = async (call: Call, all = false) => (await control.client.listSessions({ all }, call)).sessions;
const ids = async (call: Call, all = false) => (await list(call, all)).map(({ session }) => session!.id);
const idOf = async (call: Call): Promise<string> => (await list(call)).find(({ current }) => current)!.session!.id;
const end = (call: Call, sessionId: string) => control.client.endSession({ sessionId }, call);
const events = (orgId: string) =>
  control.ownerDb.rows(
    testSql(
      "SELECT actor_type, actor_id, target_id FROM control.audit_events WHERE org_id = $1 AND action = 'session.ended'",
    ),
    [orgId],
  );

describe("the list of sessions", () => {
  test("has the caller's own in all organizations, newest first, and marks the one that asks", async () => {
    const [one, other] = [await newOrganization(control), await newOrganization(control)];
    const { email, userId, call } = await newMember(control, one, "viewer");
    await control.client.addSeat({ orgId: other, email }, control.operator);
    const elsewhere = await control.as((await signIn(control, { email, acceptInviteOrgId: other })).token);
    await newMember(control, one, "member");
    const sessions = await list(call);
    expect(sessions.map(({ session, user, current }) => [session!.orgId, user!.id, current])).toEqual([
      [other, userId, false],
      [one, userId, true],
    ]);
    expect(sessions[1]).toMatchObject({
      user: { primaryEmail: email },
      organizationName: expect.stringMatching(/^Org /),
      keyId: "",
    });
    expect((await list(elsewhere)).map(({ current }) => current)).toEqual([true, false]);
  });

  test("has all sessions of the organization only for owners and admins, including those of keys", async () => {
    const orgId = await newOrganization(control);
    const [owner, member] = [await newMember(control, orgId, "owner"), await newMember(control, orgId, "member")];
    await newMember(control, await newOrganization(control), "member");
    const apiKey = await newKey(control, orgId);
    await control.client.signInWithApiKey({ apiKey }, control.anyone);
    const sessions = await list(owner.call, true);
    expect(sessions.map(({ user, keyId, current }) => [user?.id, keyId !== "", current])).toEqual([
      [undefined, true, false],
      [member.userId, false, false],
      [owner.userId, false, true],
    ]);
    await expectRefusal(list(member.call, true), "forbidden");
  });

  test("has no ended or expired ones, and has pages", async () => {
    const orgId = await newOrganization(control);
    const { email, call } = await newMember(control, orgId, "member");
    for (let i = 0; i < 3; i += 1) await signIn(control, { email });
    const all = await ids(call);
    expect(all).toHaveLength(4);
    const page = await control.client.listSessions({ page: { limit: 2, offset: 1n } }, call);
    expect(page.sessions.map(({ session }) => session!.id)).toEqual(all.slice(1, 3));
    await end(call, all[0]!);
    const expire = testSql(
      "UPDATE control.sessions SET expires_at = now() - interval '1 s' WHERE org_id = $1 AND id = $2",
    );
    await control.ownerDb.rows(expire, [orgId, all[1]!]);
    expect(await ids(call)).toEqual(all.slice(2));
  });

  test("is not for keys, nor for sessions that were made from one", async () => {
    const apiKey = await newKey(control, await newOrganization(control));
    const { created } = await control.client.signInWithApiKey({ apiKey }, control.anyone);
    for (const credential of [apiKey, created!.token]) {
      await expectRefusal(list(await control.as(credential)), "unauthenticated");
      await expectRefusal(end(await control.as(credential), randomUUID()), "unauthenticated");
    }
  });
});

describe("a session", () => {
  test("is ended by the person whose it is, in another organization too, once, with an event", async () => {
    const [one, other] = [await newOrganization(control), await newOrganization(control)];
    const { email, userId, call } = await newMember(control, one, "viewer");
    await control.client.addSeat({ orgId: other, email }, control.operator);
    const { token } = await signIn(control, { email, acceptInviteOrgId: other });
    const id = await idOf(await control.as(token));
    const { session } = await end(call, id);
    expect(session).toMatchObject({ session: { id, orgId: other }, current: false });
    await expect(control.as(token)).rejects.toBeDefined();
    expect(await events(other)).toEqual([{ actor_type: "user", actor_id: userId, target_id: id }]);
    expect(await events(one)).toEqual([]);
    await expectRefusal(end(call, id), "not_found");
    expect(await events(other)).toHaveLength(1);
  });

  test("of another member is ended by owners and admins of its organization alone", async () => {
    const orgId = await newOrganization(control);
    const [admin, member, other] = [
      await newMember(control, orgId, "admin"),
      await newMember(control, orgId, "member"),
      await newMember(control, orgId, "member"),
    ];
    const stranger = await newMember(control, await newOrganization(control), "owner");
    const id = await idOf(member.call);
    await expectRefusal(end(other.call, id), "not_found");
    await expectRefusal(end(stranger.call, id), "not_found");
    await end(admin.call, id);
    expect(await events(orgId)).toEqual([{ actor_type: "user", actor_id: admin.userId, target_id: id }]);
    expect(await ids(admin.call, true)).toHaveLength(2);
  });

  test("that has ended ends no other one", async () => {
    const orgId = await newOrganization(control);
    const { email, call } = await newMember(control, orgId, "member");
    const other = await idOf(await control.as((await signIn(control, { email })).token));
    const own = await idOf(call);
    expect((await end(call, own)).session!.current).toBe(true);
    await expectRefusal(end(call, other), "unauthenticated");
  });

  test.each(["", "x", randomUUID()])("with the id %j is not found", async (sessionId) => {
    const { call } = await newMember(control, await newOrganization(control), "admin");
    await expectRefusal(end(call, sessionId), "not_found");
  });
});
