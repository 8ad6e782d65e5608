import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import {
  expectRefusal,
  newEmail,
  newKey,
  newMember,
  newOrganization,
  refusal,
  signIn,
  startControl,
  type Control,
} from "../control.fixture.ts";

let control: Control;
beforeAll(async () => {
  control = await startControl();
});
afterAll(() => control.close());

const add = (orgId: string, email = newEmail()) => control.client.addSeat({ orgId, email }, control.operator);
const invite = (orgId: string, email = newEmail()) =>
  control.client.createInvitation({ orgId, email }, control.operator);

describe("a seat", () => {
  test("is reserved for a person who does not have to be a user yet", async () => {
    const orgId = await newOrganization(control);
    const email = newEmail();
    const { seat } = await control.client.addSeat({ orgId, email, role: "admin" }, control.operator);
    expect(seat).toMatchObject({
      membership: { orgId, role: "admin", status: "invited" },
      user: { primaryEmail: email, displayName: "" },
    });
    expect(seat!.membership!.userId).toBe(seat!.user!.id);
  });

  test("does not reveal the name of a person with an account before they accept", async () => {
    const [orgId, email] = [await newOrganization(control), newEmail()];
    await signIn(control, { email, displayName: "Ada" });
    const { seat } = await control.client.addSeat({ orgId, email }, control.operator);
    const names = async () =>
      (await control.client.listSeats({ orgId }, control.operator)).seats.map(({ user }) => user!.displayName);
    expect([seat!.user!.displayName, await names()]).toEqual(["", [""]]);
    await signIn(control, { email, acceptInviteOrgId: orgId });
    expect(await names()).toEqual(["Ada"]);
  });

  test("stays as it is when it is reserved again", async () => {
    const orgId = await newOrganization(control);
    const { email, userId } = await newMember(control, orgId, "viewer");
    const { seat } = await control.client.addSeat({ orgId, email, role: "admin" }, control.operator);
    expect(seat!.membership).toMatchObject({ userId, role: "viewer", status: "active" });
  });

  test.each([
    ["an owner's role", { email: "x@y.co", role: "owner" }, "role"],
    ["a fault that the gateway found", { email: "x@y.co", bodyFault: { text: "no", field: "z" } }, "z"],
  ])("with %s is refused", async (_, wish, field) => {
    const orgId = await newOrganization(control);
    expect(await refusal(control.client.addSeat({ orgId, ...wish }, control.operator))).toMatchObject({
      reason: "bad_request",
      field,
    });
  });

  test("in a personal organization is refused", async () => {
    const { created } = await control.client.signInForDevelopment({ email: newEmail() }, control.anyone);
    await expectRefusal(add(created!.view!.organization!.id), "personal_workspace_invite_forbidden");
  });
});

describe("the number of seats", () => {
  test("counts members, seats that wait, and pending invitations", async () => {
    const orgId = await newOrganization(control, "pro");
    await newMember(control, orgId, "owner");
    await add(orgId);
    await invite(orgId);
    await expectRefusal(add(orgId), "invite_seat_limit_reached");
    await expectRefusal(invite(orgId), "invite_seat_limit_reached");
  });

  test("counts a person with a seat and an invitation once", async () => {
    const orgId = await newOrganization(control, "free");
    const email = newEmail();
    await add(orgId, email);
    await invite(orgId, email);
    await add(orgId);
    const { seats } = await control.client.listSeats({ orgId }, control.operator);
    expect(seats).toHaveLength(2);
  });

  test("does not count invitations that have expired or were revoked", async () => {
    const orgId = await newOrganization(control, "free");
    await invite(orgId);
    const { sent } = await invite(orgId);
    await expectRefusal(invite(orgId), "invite_seat_limit_reached");
    await control.client.revokeInvitation({ orgId, invitationId: sent!.invitation!.id }, control.operator);
    await invite(orgId);
    control.pass({ days: 7, seconds: 1 });
    await add(orgId);
    await add(orgId);
    await expectRefusal(add(orgId), "invite_seat_limit_reached");
  });

  test("holds when the last one is wanted many times simultaneously", async () => {
    const orgId = await newOrganization(control, "pro");
    const outcomes = await Promise.allSettled([
      ...Array.from({ length: 4 }, () => add(orgId)),
      ...Array.from({ length: 4 }, () => invite(orgId)),
    ]);
    expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(3);
    await expectRefusal(add(orgId), "invite_seat_limit_reached");
  });

  test("does not matter where plan quotas are off", async () => {
    const open = await startControl({ seatLimits: false });
    try {
      const orgId = await newOrganization(open, "free");
      for (const email of ["a@x.co", "b@x.co", "c@x.co"]) {
        await open.client.addSeat({ orgId, email }, open.operator);
      }
      expect((await open.client.listSeats({ orgId }, open.operator)).seats).toHaveLength(3);
    } finally {
      await open.close();
    }
  });
});

describe("who may manage seats", () => {
  test.each([
    ["admin", true],
    ["member", false],
  ] as const)("a session of role %s: %s", async (role, allowed) => {
    const orgId = await newOrganization(control);
    const { call } = await newMember(control, orgId, role);
    const outcome = await Promise.allSettled([
      control.client.addSeat({ orgId, email: newEmail() }, call),
      control.client.listSeats({ orgId }, call),
    ]);
    expect(outcome.map(({ status }) => status === "fulfilled")).toEqual([allowed, allowed]);
  });

  test("no key, regardless of its scopes", async () => {
    const orgId = await newOrganization(control);
    const call = await control.as(await newKey(control, orgId, ["api_keys:write", "artifacts:manage"]));
    await expectRefusal(control.client.addSeat({ orgId, email: newEmail() }, call), "forbidden");
    await expectRefusal(control.client.listSeats({ orgId }, call), "forbidden");
  });

  test("not members of another organization, who get not_found", async () => {
    const { call } = await newMember(control, await newOrganization(control), "owner");
    const orgId = await newOrganization(control);
    await expectRefusal(control.client.addSeat({ orgId, email: newEmail() }, call), "not_found");
    await expectRefusal(control.client.listSeats({ orgId }, call), "not_found");
  });
});

test("the list of seats shows what colleagues may know of a person, page by page", async () => {
  const orgId = await newOrganization(control);
  const owner = await newMember(control, orgId, "owner");
  await newMember(control, orgId, "member");
  const { seats } = await control.client.listSeats({ orgId }, owner.call);
  expect(seats).toHaveLength(2);
  expect(seats[0]!.user).toMatchObject({ id: owner.userId, primaryEmail: owner.email, lastSeenAt: "", createdAt: "" });
  const page = { limit: 1, offset: 1n };
  expect((await control.client.listSeats({ orgId, page }, owner.call)).seats).toEqual(seats.slice(1));
});

describe("a member who leaves", () => {
  const seatOf = async (orgId: string, userId: string) => {
    const { seats } = await control.client.listSeats({ orgId }, control.operator);
    return seats.find(({ user }) => user!.id === userId)!.membership!.id;
  };
  const remove = async (orgId: string, userId: string, call = control.operator) =>
    control.client.removeSeat({ orgId, membershipId: await seatOf(orgId, userId) }, call);
  const change = async (orgId: string, userId: string, role: string, call = control.operator) =>
    control.client.changeSeat({ orgId, membershipId: await seatOf(orgId, userId), role }, call);

  test("has no session and no seat there any more, and may be added again", async () => {
    const orgId = await newOrganization(control, "pro");
    const { call: owner } = await newMember(control, orgId, "owner");
    const { userId, token, email } = await newMember(control, orgId, "member");
    const { seat } = await remove(orgId, userId, owner);
    expect(seat).toMatchObject({
      membership: { userId, role: "member", status: "active" },
      user: { primaryEmail: email },
    });
    await expect(control.as(token)).rejects.toThrow("it was revoked");
    expect((await control.client.getSession({ token }, control.anyone)).view).toBeUndefined();
    const { seats } = await control.client.listSeats({ orgId }, control.operator);
    expect(seats.map(({ user }) => user!.id)).not.toContain(userId);
    await add(orgId);
    const again = await add(orgId, email);
    expect(again.seat!.membership).toMatchObject({ userId, status: "invited" });
    await expectRefusal(add(orgId), "invite_seat_limit_reached");
  });

  test("is told to gateways by the projection", async () => {
    const orgId = await newOrganization(control);
    const { userId, call } = await newMember(control, orgId, "viewer");
    const { cursor } = await control.client.getProjection({ cursor: "", limit: 0 }, control.anyone);
    await remove(orgId, userId);
    const page = await control.client.getProjection({ cursor, limit: 0 }, control.anyone);
    const entry = page.credentials.find(({ id }) => id === call.identity!.credentialId);
    expect(entry).toMatchObject({ revoked: true });
  });

  test("keeps other organizations, and the keys that they made work", async () => {
    const [orgId, otherId] = [await newOrganization(control), await newOrganization(control)];
    const { userId, email, call } = await newMember(control, orgId, "admin");
    await control.client.addSeat({ orgId: otherId, email, role: "member" }, control.operator);
    const other = await control.client.signInForDevelopment({ email, acceptInviteOrgId: otherId }, control.anyone);
    const { created } = await control.client.createApiKey({ orgId, scopes: ["export:read"] }, call);
    await remove(orgId, userId);
    expect((await control.as(created!.plaintext)).identity!.orgId).toBe(orgId);
    expect((await control.as(other.created!.token)).identity!.orgId).toBe(otherId);
  });

  test("is gone: removing or changing them again is not found, as for another organization's seat", async () => {
    const orgId = await newOrganization(control);
    const { userId } = await newMember(control, orgId, "member");
    const membershipId = await seatOf(orgId, userId);
    await control.client.removeSeat({ orgId, membershipId }, control.operator);
    await expectRefusal(control.client.removeSeat({ orgId, membershipId }, control.operator), "not_found");
    const wish = { orgId, membershipId, role: "viewer" };
    await expectRefusal(control.client.changeSeat(wish, control.operator), "not_found");
    const other = await newOrganization(control);
    const { userId: stranger } = await newMember(control, other, "member");
    const foreign = { orgId, membershipId: await seatOf(other, stranger) };
    await expectRefusal(control.client.removeSeat(foreign, control.operator), "not_found");
    await expectRefusal(control.client.removeSeat({ orgId, membershipId: "x" }, control.operator), "not_found");
  });

  test("is never the last owner, even when two owners remove each other", async () => {
    const orgId = await newOrganization(control);
    const first = await newMember(control, orgId, "owner");
    await expectRefusal(remove(orgId, first.userId, first.call), "conflict");
    await expectRefusal(change(orgId, first.userId, "admin", first.call), "conflict");
    expect((await change(orgId, first.userId, "owner", first.call)).seat!.membership!.role).toBe("owner");
    const second = await newMember(control, orgId, "owner");
    const outcomes = await Promise.allSettled([
      remove(orgId, second.userId, first.call),
      remove(orgId, first.userId, second.call),
    ]);
    expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    const { seats } = await control.client.listSeats({ orgId }, control.operator);
    expect(seats.filter(({ membership }) => membership!.role === "owner")).toHaveLength(1);
  });

  test("or changes is an owner by the word of owners only", async () => {
    const orgId = await newOrganization(control);
    const [owner, admin] = [await newMember(control, orgId, "owner"), await newMember(control, orgId, "admin")];
    const { userId } = await newMember(control, orgId, "member");
    await newMember(control, orgId, "owner");
    await expectRefusal(remove(orgId, owner.userId, admin.call), "forbidden");
    await expectRefusal(change(orgId, owner.userId, "member", admin.call), "forbidden");
    await expectRefusal(change(orgId, userId, "owner", admin.call), "forbidden");
    expect((await change(orgId, userId, "admin", admin.call)).seat!.membership!.role).toBe("admin");
    expect((await change(orgId, userId, "owner", owner.call)).seat!.membership!.role).toBe("owner");
    await remove(orgId, userId, owner.call);
  });

  test("has a new role in their sessions immediately", async () => {
    const orgId = await newOrganization(control);
    const { userId, token } = await newMember(control, orgId, "admin");
    await change(orgId, userId, "viewer");
    expect((await control.as(token)).identity).toMatchObject({ role: "viewer", scopes: ["export:read"] });
  });

  test.each(["member", "viewer"] as const)("is not removed or changed by a %s", async (role) => {
    const orgId = await newOrganization(control);
    const { call, userId } = await newMember(control, orgId, role);
    await expectRefusal(remove(orgId, userId, call), "forbidden");
    await expectRefusal(change(orgId, userId, "admin", call), "forbidden");
  });

  test("is not changed to a role that there is not", async () => {
    const orgId = await newOrganization(control);
    const { userId } = await newMember(control, orgId, "member");
    for (const role of ["", "boss"]) {
      expect(await refusal(change(orgId, userId, role))).toMatchObject({ reason: "bad_request", field: "role" });
    }
  });
});
