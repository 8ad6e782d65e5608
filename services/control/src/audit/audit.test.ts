import { testSql } from "@tidemark/testkit";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";

import { createCall, type Call } from "@tidemark/rpc";
import {
  expectRefusal,
  newEmail,
  newKey,
  newMember,
  newOrganization,
  startControl,
  type Control,
} from "../control.fixture.ts";

let control: Control;
beforeAll(async () => {
  control = await startControl();
});
afterAll(() => control.close());

/** Events of an organization, the oldest first, as `actor action target`. */
async function eventsOf(orgId: string, call: Call): Promise<{ actor: string; action: string; target: string }[]> {
  const { events } = await control.client.listAuditEvents({ orgId, limit: 1000 }, call);
  return events.toReversed().map(({ actorType, actorId, action, targetType, targetId }) => ({
    actor: `${actorType} ${actorId}`.trim(),
    action,
    target: `${targetType} ${targetId}`.trim(),
  }));
}

describe("the audit log", () => {
  test("records who did what to keys, members and the organization, once for each change", async () => {
    const orgId = await newOrganization(control);
    const owner = await newMember(control, orgId, "owner");
    const { created } = await control.client.createApiKey({ orgId, scopes: ["api_keys:write"] }, owner.call);
    const keyId = created!.key!.id;
    const byKey = await control.as(created!.plaintext);
    const made = await control.client.createApiKey({ orgId, scopes: ["api_keys:write"] }, byKey);
    const madeId = made.created!.key!.id;
    await control.client.revokeApiKey({ orgId, keyId: madeId }, owner.call);
    await control.client.revokeApiKey({ orgId, keyId: madeId }, owner.call);
    await control.client.disableServiceAccount(
      { orgId, serviceAccountId: created!.serviceAccount!.id },
      control.operator,
    );
    const member = await newMember(control, orgId, "member");
    const { seats } = await control.client.listSeats({ orgId }, control.operator);
    const membershipId = seats.find(({ user }) => user!.id === member.userId)!.membership!.id;
    await control.client.changeSeat({ orgId, membershipId, role: "viewer" }, owner.call);
    await control.client.changeSeat({ orgId, membershipId, role: "viewer" }, owner.call);
    await control.client.removeSeat({ orgId, membershipId }, owner.call);
    await control.client.updateOrganization({ orgId, planTier: "pro" }, control.operator);
    const [user, key] = [`user ${owner.userId}`, `api_key ${keyId}`];
    expect(await eventsOf(orgId, owner.call)).toEqual([
      { actor: "operator", action: "organization.created", target: `organization ${orgId}` },
      { actor: user, action: "api_key.created", target: key },
      { actor: key, action: "api_key.created", target: `api_key ${madeId}` },
      { actor: user, action: "api_key.revoked", target: `api_key ${madeId}` },
      { actor: "operator", action: "api_key.revoked", target: key },
      { actor: "operator", action: "member.invited", target: `membership ${membershipId}` },
      { actor: `user ${member.userId}`, action: "member.joined", target: `membership ${membershipId}` },
      { actor: user, action: "member.changed", target: `membership ${membershipId}` },
      { actor: user, action: "member.removed", target: `membership ${membershipId}` },
      { actor: "operator", action: "organization.changed", target: `organization ${orgId}` },
    ]);
  });

  test("records invitations, device logins and the end of sessions", async () => {
    const orgId = await newOrganization(control);
    const admin = await newMember(control, orgId, "admin");
    const { sent } = await control.client.createInvitation({ orgId, email: newEmail() }, admin.call);
    const wish = { clientName: "cli", clientVersion: "1", baseUrl: "http://127.0.0.1" };
    const { userCode, deviceCode } = await control.client.startDeviceLogin(wish, control.anyone);
    await control.client.confirmDeviceLogin({ userCode }, admin.call);
    const { created } = await control.client.pollDeviceLogin({ deviceCode }, control.anyone);
    const { view } = await control.client.getSession({ token: admin.token }, control.anyone);
    await control.client.signOut({ token: admin.token }, control.anyone);
    await control.client.signOut({ token: admin.token }, control.anyone);
    const { call } = await newMember(control, orgId, "owner");
    const actor = `user ${admin.userId}`;
    expect((await eventsOf(orgId, call)).slice(3)).toEqual([
      { actor, action: "member.invited", target: `invitation ${sent!.invitation!.id}` },
      { actor, action: "device_login.confirmed", target: "device_login" },
      { actor, action: "api_key.created", target: `api_key ${created!.key!.id}` },
      { actor, action: "session.ended", target: `session ${view!.session!.id}` },
    ]);
  });

  test("records the request and the time", async () => {
    const orgId = await newOrganization(control);
    const { call } = await newMember(control, orgId, "owner");
    const asked = createCall({ identity: call.identity, requestId: "request-7", timeoutMs: 10_000 });
    await control.client.createApiKey({ orgId, scopes: ["export:read"] }, asked);
    const { events } = await control.client.listAuditEvents({ orgId, limit: 1 }, call);
    expect(events[0]).toMatchObject({ action: "api_key.created", requestId: "request-7" });
    expect(Math.abs(new Date(events[0]!.at).getTime() - Date.now())).toBeLessThan(60_000);
  });

  test("holds no secrets and no names", async () => {
    const orgId = await newOrganization(control);
    const { token, email } = await newMember(control, orgId, "owner");
    const text = await newKey(control, orgId);
    const all = testSql("SELECT coalesce(string_agg(e::text, ' '), '') AS text FROM control.audit_events e");
    const found = (await control.ownerDb.one<{ text: string }>(all, []))!.text;
    for (const secret of [text.split("_")[1]!, text.split("_")[2]!, token.split("_").at(-2)!, email]) {
      expect(found).not.toContain(secret);
    }
    expect(found).toContain(orgId);
  });

  test("has pages, newest first", async () => {
    const orgId = await newOrganization(control);
    const { call } = await newMember(control, orgId, "owner");
    for (let i = 0; i < 5; i += 1) await newKey(control, orgId);
    const places: string[] = [];
    let cursor = "";
    do {
      const page = await control.client.listAuditEvents({ orgId, limit: 2, cursor }, call);
      expect(page.events.length).toBeLessThanOrEqual(2);
      places.push(...page.events.map(({ at, id }) => `${at} ${id}`));
      cursor = page.nextCursor;
      // Events added meanwhile do not move the pages.
      if (places.length === 2) await newKey(control, orgId);
    } while (cursor !== "");
    expect(new Set(places).size).toBe(6);
    await expectRefusal(control.client.listAuditEvents({ orgId, limit: 2, cursor: "x" }, call), "bad_request");
  });

  test("is for owners and admins of the organization who are signed in", async () => {
    const [orgId, otherId] = [await newOrganization(control), await newOrganization(control)];
    const list = (call: Call, of = orgId) => control.client.listAuditEvents({ orgId: of, limit: 1 }, call);
    expect((await list((await newMember(control, orgId, "admin")).call)).events).toHaveLength(1);
    for (const role of ["member", "viewer"] as const) {
      await expectRefusal(list((await newMember(control, orgId, role)).call), "forbidden");
    }
    await expectRefusal(list((await newMember(control, orgId, "owner")).call, otherId), "not_found");
    await expectRefusal(list(await control.as(await newKey(control, orgId, ["api_keys:write"]))), "unauthenticated");
    await expectRefusal(list(control.anyone), "unauthenticated");
  });

  test("is never changed: the service may add and read, and nothing else", async () => {
    const orgId = await newOrganization(control);
    for (const statement of [
      "UPDATE control.audit_events SET action = 'x'",
      "DELETE FROM control.audit_events",
      "TRUNCATE control.audit_events",
    ]) {
      const change = control.db.withTenant(orgId, (tx) => tx.rows(testSql(statement), []));
      await expect(change).rejects.toThrow(/permission denied/);
    }
  });

  test("has nothing of what was undone", async () => {
    const orgId = await newOrganization(control);
    const { call } = await newMember(control, orgId, "owner");
    await expectRefusal(control.client.createApiKey({ orgId, expiresAt: "2020-01-01T00:00:00Z" }, call), "bad_request");
    expect((await eventsOf(orgId, call)).map(({ action }) => action)).toEqual(["organization.created"]);
  });
});
