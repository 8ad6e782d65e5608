import { testSql } from "@tidemark/testkit";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";

import { parseCredential } from "@tidemark/credentials";
import {
  expectRefusal,
  newEmail,
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

describe("signing in for development", () => {
  test("is refused unless the installation was started for it", async () => {
    const closed = await startControl({ devAuth: false });
    try {
      const wish = { email: "a@example.org" };
      await expectRefusal(closed.client.signInForDevelopment(wish, closed.anyone), "unauthenticated");
      expect((await closed.client.getAuthConfig({}, closed.anyone)).devAuthEnabled).toBe(false);
      expect((await closed.client.listUsers({}, closed.operator)).users).toEqual([]);
    } finally {
      await closed.close();
    }
    expect((await control.client.getAuthConfig({}, control.anyone)).devAuthEnabled).toBe(true);
  });

  test("makes a new person's own organization, with one seat", async () => {
    const { view, token, maxAgeSeconds } = await signIn(control, {
      email: "Ada@Example.org",
      displayName: "Ada Lovelace",
    });
    expect(maxAgeSeconds).toBe(2_592_000);
    expect(parseCredential(token)?.kind).toBe("session");
    expect(view).toMatchObject({
      user: { primaryEmail: "ada@example.org", displayName: "Ada Lovelace" },
      organization: {
        name: "Ada Lovelace",
        slug: "ada-lovelace",
        accountType: "personal",
        seatLimit: 1,
        planTier: "free",
      },
      membership: { role: "owner", status: "active" },
      memberships: [{ slug: "ada-lovelace", role: "owner", memberCount: 1, isCurrent: true }],
    });
    expect(view!.session).toMatchObject({ orgId: view!.organization!.id, userId: view!.user!.id, revokedAt: "" });
    const lifetime = Date.parse(view!.session!.expiresAt) - Date.parse(view!.session!.createdAt);
    expect(lifetime).toBe(2_592_000_000);
  });

  test("names the organization after the address when there is no other name, and finds a free one", async () => {
    const first = await signIn(control, { email: "grace@one.example.org" });
    const second = await signIn(control, { email: "grace@two.example.org" });
    expect(first.view!.organization!.slug).toBe("grace");
    expect(second.view!.organization).toMatchObject({
      name: "grace",
      slug: expect.stringMatching(/^grace-[0-9a-f]{6}$/),
    });
  });

  test("makes the organization that a new person names, with seats for others", async () => {
    const wish = { email: newEmail(), orgName: "Engines", seatEmails: ["Mate@example.org", "mate@example.org"] };
    const { view } = await signIn(control, wish);
    expect(view!.organization).toMatchObject({
      name: "Engines",
      slug: "engines",
      accountType: "business",
      seatLimit: 2,
    });
    const { seats } = await control.client.listSeats({ orgId: view!.organization!.id }, control.operator);
    const people = seats.map(({ membership, user }) => [user!.primaryEmail, membership!.role, membership!.status]);
    expect(people).toHaveLength(2);
    expect(people).toContainEqual(["mate@example.org", "member", "invited"]);
    expect(people).toContainEqual([wish.email, "owner", "active"]);
    const seat = seats.find(({ membership }) => membership!.status === "invited")!.membership!.id;
    const events = await control.ownerDb.rows(
      testSql("SELECT action, target_id FROM control.audit_events WHERE org_id = $1 ORDER BY at"),
      [view!.organization!.id],
    );
    expect(events).toContainEqual({ action: "member.invited", target_id: seat });
    const mate = await signIn(control, { email: "mate@example.org" });
    expect(mate.view!.membership).toMatchObject({ orgId: view!.organization!.id, role: "member", status: "active" });
  });

  test("returns a known person to their last organization", async () => {
    const email = newEmail();
    const first = await signIn(control, { email });
    const orgId = await newOrganization(control);
    await control.client.addSeat({ orgId, email }, control.operator);
    control.pass({ seconds: 1 });
    const again = await signIn(control, { email });
    expect(again.view!.organization!.id).toBe(first.view!.organization!.id);
    control.pass({ seconds: 1 });
    await signIn(control, { email, acceptInviteOrgId: orgId });
    control.pass({ seconds: 1 });
    expect((await signIn(control, { email })).view!.organization!.id).toBe(orgId);
  });

  test("asks which of several waiting organizations is meant", async () => {
    const email = newEmail();
    const waiting = [await newOrganization(control), await newOrganization(control)];
    for (const orgId of waiting) await control.client.addSeat({ orgId, email }, control.operator);
    await expectRefusal(control.client.signInForDevelopment({ email }, control.anyone), "multiple_pending_invites");
    const { view } = await signIn(control, { email, acceptInviteOrgId: waiting[1]! });
    expect(view!.organization!.id).toBe(waiting[1]);
  });

  test("into an organization without a pending seat for the person is not found", async () => {
    const wish = { email: newEmail(), acceptInviteOrgId: await newOrganization(control) };
    await expectRefusal(control.client.signInForDevelopment(wish, control.anyone), "not_found");
  });

  test("accepts the invitation that the person sends", async () => {
    const orgId = await newOrganization(control);
    const email = newEmail();
    const { sent } = await control.client.createInvitation({ orgId, email, role: "admin" }, control.operator);
    const acceptInviteToken = sent!.previewLink.split("token=")[1]!;
    const { view } = await signIn(control, { email, acceptInviteToken });
    expect(view!.membership).toMatchObject({ orgId, role: "admin", status: "active" });
  });

  test("under a taken name is a conflict, and leaves no user behind", async () => {
    await signIn(control, { email: newEmail(), orgName: "Taken Name" });
    const email = newEmail();
    const wish = { email, orgName: "taken name" };
    await expectRefusal(control.client.signInForDevelopment(wish, control.anyone), "conflict");
    const { users } = await control.client.listUsers({ page: { limit: 1000 } }, control.operator);
    expect(users.map(({ primaryEmail }) => primaryEmail)).not.toContain(email);
  });

  test.each([
    ["an unknown mode", { email: "a@b.co", mode: "guess" }, "bad_request", "mode"],
    ["a seat for no address", { email: "a@b.co", orgName: "x", seatEmails: ["y"] }, "bad_request", "seat_emails"],
    ["seats in a personal organization", { email: "a@b.co", seatEmails: ["c@d.co"] }, "bad_request", "seat_emails"],
    ["a plan that costs", { email: "a@b.co", orgName: "x", planTier: "pro" }, "billing_unavailable", undefined],
    [
      "more seats than the plan has",
      { email: "a@b.co", orgName: "x", seatEmails: ["c@d.co", "e@f.co"] },
      "invite_seat_limit_reached",
      undefined,
    ],
  ])("with %s is refused", async (_, wish, reason, field) => {
    expect(await refusal(control.client.signInForDevelopment(wish, control.anyone))).toMatchObject({ reason, field });
  });

  test("of one new person many times simultaneously makes one user and one organization", async () => {
    const email = newEmail();
    const created = await Promise.all(Array.from({ length: 6 }, () => signIn(control, { email })));
    expect(new Set(created.map(({ view }) => view!.user!.id)).size).toBe(1);
    expect(new Set(created.map(({ view }) => view!.organization!.id)).size).toBe(1);
    expect(new Set(created.map(({ token }) => token)).size).toBe(6);
  });
});
