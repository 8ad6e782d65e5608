import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { issueCredential } from "@tidemark/credentials";
import { expectRefusal, newEmail, newMember, newOrganization, startControl, type Control } from "../control.fixture.ts";
import { accept, invite, visit } from "./invitations.fixture.ts";

let control: Control;
beforeAll(async () => {
  control = await startControl();
});
afterAll(() => control.close());

describe("a preview", () => {
  test("shows the organization and enough of the address to recognize it", async () => {
    const orgId = await newOrganization(control);
    const { token, sent } = await invite(control, orgId, "long.name@example.org", "viewer");
    const { organizations } = await control.client.listOrganizations({ page: { limit: 1000 } }, control.operator);
    expect(await control.client.previewInvitation({ token }, control.anyone)).toMatchObject({
      orgName: organizations.find(({ id }) => id === orgId)!.name,
      emailHint: "l***@example.org",
      role: "viewer",
      status: "pending",
      expiresAt: sent.invitation!.expiresAt,
    });
  });

  test("of a token that was never issued is not found", async () => {
    for (const token of [
      "x",
      issueCredential("invite", randomBytes).text,
      issueCredential("session", randomBytes).text,
    ]) {
      await expectRefusal(control.client.previewInvitation({ token }, control.anyone), "not_found");
    }
  });
});

describe("accepting", () => {
  test("makes the person a member, in a new session there", async () => {
    const orgId = await newOrganization(control);
    const { email, token, id } = await invite(control, orgId, newEmail(), "viewer");
    const person = await visit(control, email);
    const { created } = await control.client.acceptInvitation({ token }, person.call);
    expect(created!.view).toMatchObject({
      organization: { id: orgId },
      membership: { role: "viewer", status: "active", userId: person.userId },
    });
    expect((await control.client.getSession({ token: person.token }, control.anyone)).view).toBeUndefined();
    const { invitations } = await control.client.listInvitations({ orgId }, control.operator);
    expect(invitations.find((row) => row.id === id)).toMatchObject({ status: "accepted" });
    expect(invitations.find((row) => row.id === id)!.acceptedAt).not.toBe("");
  });

  test("again, by the same person, opens a session there again", async () => {
    const orgId = await newOrganization(control);
    const { email, token } = await invite(control, orgId);
    await accept(control, email, token);
    const { created } = await accept(control, email, token);
    expect(created!.view!.organization!.id).toBe(orgId);
    expect((await control.client.listSeats({ orgId }, control.operator)).seats).toHaveLength(1);
  });

  test("twice simultaneously makes one member", async () => {
    const orgId = await newOrganization(control);
    const { email, token } = await invite(control, orgId);
    const [first, second] = [await visit(control, email), await visit(control, email)];
    const answers = await Promise.all([
      control.client.acceptInvitation({ token }, first.call),
      control.client.acceptInvitation({ token }, second.call),
    ]);
    expect(answers.map(({ created }) => created!.view!.organization!.id)).toEqual([orgId, orgId]);
    expect((await control.client.listSeats({ orgId }, control.operator)).seats).toHaveLength(1);
  });

  test("of two invitations of one person simultaneously makes them a member of both", async () => {
    const email = newEmail();
    const wanted = [await newOrganization(control), await newOrganization(control)];
    const tokens = await Promise.all(wanted.map(async (orgId) => (await invite(control, orgId, email)).token));
    const calls = [(await visit(control, email)).call, (await visit(control, email)).call] as const;
    await Promise.all(tokens.map((token, i) => control.client.acceptInvitation({ token }, calls[i]!)));
    const { memberships } = await control.client.listMemberships({}, calls[0]);
    expect(memberships.map(({ orgId }) => orgId)).toEqual(expect.arrayContaining(wanted));
  });

  test("turns a seat that waits into one with the invitation's role", async () => {
    const orgId = await newOrganization(control);
    const email = newEmail();
    const { token } = await visit(control, email);
    await control.client.addSeat({ orgId, email, role: "viewer" }, control.operator);
    const invitation = await invite(control, orgId, email, "admin");
    const { created } = await control.client.acceptInvitation({ token: invitation.token }, await control.as(token));
    expect(created!.view!.membership).toMatchObject({ role: "admin", status: "active" });
    expect((await control.client.listSeats({ orgId }, control.operator)).seats).toHaveLength(1);
  });

  test("is for the invited person only", async () => {
    const orgId = await newOrganization(control);
    const { token } = await invite(control, orgId);
    await expectRefusal(accept(control, newEmail(), token), "invite_email_mismatch");
  });

  test("is too late when the invitation has expired", async () => {
    const orgId = await newOrganization(control);
    const { email, token } = await invite(control, orgId);
    control.pass({ days: 7, seconds: 1 });
    await expectRefusal(accept(control, email, token), "invite_expired");
  });

  test("is a conflict when the invitation was revoked", async () => {
    const orgId = await newOrganization(control);
    const { email, token, id } = await invite(control, orgId);
    await control.client.revokeInvitation({ orgId, invitationId: id }, control.operator);
    await expectRefusal(accept(control, email, token), "conflict");
  });

  test("is refused when the seats are fewer than before", async () => {
    const orgId = await newOrganization(control);
    await newMember(control, orgId, "owner");
    await newMember(control, orgId, "member");
    const { email, token } = await invite(control, orgId);
    await control.client.updateOrganization({ orgId, planTier: "free" }, control.operator);
    await expectRefusal(accept(control, email, token), "invite_seat_limit_reached");
  });

  test("with a token that was never issued is not found", async () => {
    const { call } = await visit(control, newEmail());
    const { text: token } = issueCredential("invite", randomBytes);
    await expectRefusal(control.client.acceptInvitation({ token }, call), "not_found");
  });

  test("needs a session", async () => {
    const { token } = await invite(control, await newOrganization(control));
    for (const call of [control.anyone, control.operator]) {
      await expectRefusal(control.client.acceptInvitation({ token }, call), "unauthenticated");
    }
  });
});
