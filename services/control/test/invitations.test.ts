import { randomBytes, randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { issueCredential } from "@tidemark/credentials";
import {
  bill,
  expectRefusal,
  newKey,
  newMember,
  newOrganization,
  refusal,
  startControl,
  type Control,
} from "./fixture.ts";

let control: Control;
beforeAll(async () => {
  control = await startControl();
});
afterAll(() => control.close());

let people = 0;
const newEmail = (): string => {
  people += 1;
  return `guest${people}@example.org`;
};
const invite = async (orgId: string, email = newEmail(), role = "") => {
  const { sent } = await control.client.createInvitation(
    { orgId, email, role, baseUrl: "http://127.0.0.1:8080" },
    control.operator,
  );
  return { id: sent!.invitation!.id, email, token: sent!.previewLink.split("token=")[1]!, sent: sent! };
};
const signIn = async (email: string) => {
  const { created } = await control.client.signInForDevelopment({ email }, control.anyone);
  return { token: created!.token, userId: created!.view!.user!.id, call: await control.as(created!.token) };
};
const accept = async (email: string, token: string) =>
  control.client.acceptInvitation({ token }, (await signIn(email)).call);

describe("an invitation", () => {
  test("is sent to the address, with a link that carries its token behind a hash", async () => {
    const orgId = await newOrganization(control);
    const { sent, email, token } = await invite(orgId, " New.Guest@Example.org ", "admin");
    expect(sent.invitation).toMatchObject({
      orgId,
      email: "new.guest@example.org",
      role: "admin",
      status: "pending",
      deliveryStatus: "sent",
      acceptedAt: "",
      revokedAt: "",
    });
    expect(email.trim().toLowerCase()).toBe(sent.invitation!.email);
    const { createdAt, expiresAt, lastSentAt } = sent.invitation!;
    expect(Date.parse(expiresAt) - Date.parse(createdAt)).toBe(7 * 86_400_000);
    expect(lastSentAt).toBe(createdAt);
    expect(sent.previewLink).toBe(`http://127.0.0.1:8080/invitations/accept#token=${token}`);
    expect(control.mail.sent.at(-1)).toMatchObject({
      to: "new.guest@example.org",
      role: "admin",
      link: sent.previewLink,
    });
  });

  test("is for a member when no role is named", async () => {
    const { sent } = await invite(await newOrganization(control));
    expect(sent.invitation!.role).toBe("member");
  });

  test("stands although its message could not be sent, and says so", async () => {
    const orgId = await newOrganization(control);
    control.mail.failing = true;
    const { sent } = await control.client
      .createInvitation({ orgId, email: newEmail() }, control.operator)
      .finally(() => {
        control.mail.failing = false;
      });
    expect(sent).toMatchObject({ previewLink: "", deliveryError: "the message could not be sent" });
    expect(sent!.invitation).toMatchObject({ status: "pending", deliveryStatus: "failed" });
    const again = await control.client.resendInvitation(
      { orgId, invitationId: sent!.invitation!.id },
      control.operator,
    );
    expect(again.sent!.invitation!.deliveryStatus).toBe("sent");
  });

  test.each([
    ["no address", { email: "x" }, "email"],
    ["an owner's role", { email: "x@y.co", role: "owner" }, "role"],
    ["a fault that the gateway found", { email: "x@y.co", bodyFault: { text: "no", field: "z" } }, "z"],
  ])("with %s is refused", async (_, wish, field) => {
    const orgId = await newOrganization(control);
    expect(await refusal(control.client.createInvitation({ orgId, ...wish }, control.operator))).toMatchObject({
      reason: "bad_request",
      field,
    });
  });

  test("into a personal organization is refused", async () => {
    const { created } = await control.client.signInForDevelopment({ email: newEmail() }, control.anyone);
    const orgId = created!.view!.organization!.id;
    for (const call of [control.operator, await control.as(created!.token)]) {
      await expectRefusal(
        control.client.createInvitation({ orgId, email: newEmail() }, call),
        "personal_workspace_invite_forbidden",
      );
    }
  });

  test("of a member is refused", async () => {
    const orgId = await newOrganization(control);
    const { email } = await newMember(control, orgId, "viewer");
    await expectRefusal(control.client.createInvitation({ orgId, email }, control.operator), "invite_already_member");
  });

  test("is refused while another of the same person is pending", async () => {
    const orgId = await newOrganization(control);
    const { email } = await invite(orgId);
    await expectRefusal(
      control.client.createInvitation({ orgId, email: email.toUpperCase() }, control.operator),
      "invite_already_pending",
    );
  });

  test("of the same person twice at once is made once", async () => {
    const orgId = await newOrganization(control);
    const email = newEmail();
    const outcomes = await Promise.allSettled([invite(orgId, email), invite(orgId, email)]);
    expect(outcomes.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
  });

  test("may follow one that ran out or was taken back", async () => {
    const orgId = await newOrganization(control);
    const { email } = await invite(orgId);
    control.pass({ days: 7, seconds: 1 });
    const { id } = await invite(orgId, email);
    await control.client.revokeInvitation({ orgId, invitationId: id }, control.operator);
    await invite(orgId, email);
    const { invitations } = await control.client.listInvitations({ orgId }, control.operator);
    expect(invitations.map(({ status }) => status).toSorted()).toEqual(["expired", "pending", "revoked"]);
  });

  test("waits for payment in an organization that may not add to itself", async () => {
    const orgId = await newOrganization(control);
    await bill(control, orgId, "checkout_pending");
    await expectRefusal(
      control.client.createInvitation({ orgId, email: newEmail() }, control.operator),
      "payment_required",
    );
  });

  test("is refused where no messages are sent", async () => {
    const silent = await startControl({ mail: "off" });
    try {
      const orgId = await newOrganization(silent);
      await expectRefusal(
        silent.client.createInvitation({ orgId, email: "a@b.co" }, silent.operator),
        "email_delivery_unavailable",
      );
    } finally {
      await silent.close();
    }
  });
});

describe("who may invite", () => {
  test.each([
    ["owner", true],
    ["admin", true],
    ["member", false],
    ["viewer", false],
  ] as const)("a session of role %s: %s", async (role, allowed) => {
    const orgId = await newOrganization(control);
    const { call } = await newMember(control, orgId, role);
    const outcome = await Promise.allSettled([
      control.client.createInvitation({ orgId, email: newEmail() }, call),
      control.client.listInvitations({ orgId }, call),
    ]);
    expect(outcome.map(({ status }) => status === "fulfilled")).toEqual([allowed, allowed]);
  });

  test("no key, whatever it may", async () => {
    const orgId = await newOrganization(control);
    const { id } = await invite(orgId);
    const call = await control.as(await newKey(control, orgId, ["api_keys:write", "artifacts:manage"]));
    const wish = { orgId, invitationId: id };
    await expectRefusal(control.client.createInvitation({ orgId, email: newEmail() }, call), "forbidden");
    await expectRefusal(control.client.listInvitations({ orgId }, call), "forbidden");
    await expectRefusal(control.client.resendInvitation(wish, call), "forbidden");
    await expectRefusal(control.client.revokeInvitation(wish, call), "forbidden");
  });

  test("nobody may see that another organization has invitations", async () => {
    const [own, other] = [await newOrganization(control), await newOrganization(control)];
    const { id } = await invite(other);
    const { call } = await newMember(control, own, "owner");
    for (const orgId of [own, other]) {
      const wish = { orgId, invitationId: id };
      await expectRefusal(control.client.resendInvitation(wish, call), "not_found");
      await expectRefusal(control.client.revokeInvitation(wish, call), "not_found");
    }
    await expectRefusal(control.client.createInvitation({ orgId: other, email: newEmail() }, call), "not_found");
    await expectRefusal(control.client.listInvitations({ orgId: other }, call), "not_found");
  });
});

describe("sending again", () => {
  test("makes a new token and a new end, and the old token is worth nothing", async () => {
    const orgId = await newOrganization(control);
    const { id, token } = await invite(orgId);
    control.pass({ days: 1 });
    const { sent } = await control.client.resendInvitation({ orgId, invitationId: id }, control.operator);
    const renewed = sent!.previewLink.split("token=")[1]!;
    expect(renewed).not.toBe(token);
    await expectRefusal(control.client.previewInvitation({ token }, control.anyone), "not_found");
    const preview = await control.client.previewInvitation({ token: renewed }, control.anyone);
    expect(preview.expiresAt).toBe(sent!.invitation!.expiresAt);
    expect(Date.parse(preview.expiresAt) - control.now().getTime()).toBeGreaterThan(6.9 * 86_400_000);
  });

  test("has to wait a quarter of an hour", async () => {
    const orgId = await newOrganization(control);
    const wish = { orgId, invitationId: (await invite(orgId)).id };
    control.pass({ minutes: 14 });
    const { reason, retryAfterSeconds } = await refusal(control.client.resendInvitation(wish, control.operator));
    expect(reason).toBe("invite_resend_rate_limited");
    expect(retryAfterSeconds).toBeGreaterThan(50);
    expect(retryAfterSeconds).toBeLessThanOrEqual(60);
    control.pass({ minutes: 1 });
    await control.client.resendInvitation(wish, control.operator);
  });

  test("is too late when the invitation has run out", async () => {
    const orgId = await newOrganization(control);
    const wish = { orgId, invitationId: (await invite(orgId)).id };
    control.pass({ days: 7, seconds: 1 });
    await expectRefusal(control.client.resendInvitation(wish, control.operator), "invite_expired");
  });

  test("is a conflict when the invitation was taken back or accepted", async () => {
    const orgId = await newOrganization(control);
    const revoked = await invite(orgId);
    await control.client.revokeInvitation({ orgId, invitationId: revoked.id }, control.operator);
    const accepted = await invite(orgId);
    await accept(accepted.email, accepted.token);
    for (const { id } of [revoked, accepted]) {
      await expectRefusal(control.client.resendInvitation({ orgId, invitationId: id }, control.operator), "conflict");
      await expectRefusal(control.client.revokeInvitation({ orgId, invitationId: id }, control.operator), "conflict");
    }
  });

  test.each(["none", randomUUID()])("of %s is not found", async (invitationId) => {
    const orgId = await newOrganization(control);
    await expectRefusal(control.client.resendInvitation({ orgId, invitationId }, control.operator), "not_found");
    await expectRefusal(control.client.revokeInvitation({ orgId, invitationId }, control.operator), "not_found");
  });
});

describe("a preview", () => {
  test("shows the organization and enough of the address to recognise it", async () => {
    const orgId = await newOrganization(control);
    const { token, sent } = await invite(orgId, "long.name@example.org", "viewer");
    const { organizations } = await control.client.listOrganizations({ page: { limit: 1000 } }, control.operator);
    expect(await control.client.previewInvitation({ token }, control.anyone)).toMatchObject({
      orgName: organizations.find(({ id }) => id === orgId)!.name,
      emailHint: "l***@example.org",
      role: "viewer",
      status: "pending",
      expiresAt: sent.invitation!.expiresAt,
    });
  });

  test("of a token that was never given out is not found", async () => {
    for (const token of [
      "x",
      issueCredential("invite", randomBytes).text,
      issueCredential("session", randomBytes).text,
    ]) {
      await expectRefusal(control.client.previewInvitation({ token }, control.anyone), "not_found");
    }
  });

  test("tells that the invitation was taken back, or ran out", async () => {
    const orgId = await newOrganization(control);
    const revoked = await invite(orgId);
    await control.client.revokeInvitation({ orgId, invitationId: revoked.id }, control.operator);
    expect((await control.client.previewInvitation({ token: revoked.token }, control.anyone)).status).toBe("revoked");
    const old = await invite(orgId);
    control.pass({ days: 7, seconds: 1 });
    expect((await control.client.previewInvitation({ token: old.token }, control.anyone)).status).toBe("expired");
  });
});

describe("accepting", () => {
  test("makes the person a member and brings them there with a new session", async () => {
    const orgId = await newOrganization(control);
    const { email, token, id } = await invite(orgId, newEmail(), "viewer");
    const person = await signIn(email);
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

  test("again, by the same person, brings them there again", async () => {
    const orgId = await newOrganization(control);
    const { email, token } = await invite(orgId);
    await accept(email, token);
    const { created } = await accept(email, token);
    expect(created!.view!.organization!.id).toBe(orgId);
    expect((await control.client.listSeats({ orgId }, control.operator)).seats).toHaveLength(1);
  });

  test("twice at once makes one member", async () => {
    const orgId = await newOrganization(control);
    const { email, token } = await invite(orgId);
    const [first, second] = [await signIn(email), await signIn(email)];
    const answers = await Promise.all([
      control.client.acceptInvitation({ token }, first.call),
      control.client.acceptInvitation({ token }, second.call),
    ]);
    expect(answers.map(({ created }) => created!.view!.organization!.id)).toEqual([orgId, orgId]);
    expect((await control.client.listSeats({ orgId }, control.operator)).seats).toHaveLength(1);
  });

  test("of two invitations of one person at once makes them a member of both", async () => {
    const email = newEmail();
    const wanted = [await newOrganization(control), await newOrganization(control)];
    const tokens = await Promise.all(wanted.map(async (orgId) => (await invite(orgId, email)).token));
    const calls = [(await signIn(email)).call, (await signIn(email)).call] as const;
    await Promise.all(tokens.map((token, i) => control.client.acceptInvitation({ token }, calls[i]!)));
    const { memberships } = await control.client.listMemberships({}, calls[0]);
    expect(memberships.map(({ orgId }) => orgId)).toEqual(expect.arrayContaining(wanted));
  });

  test("turns a seat that waits into one with the invitation's role", async () => {
    const orgId = await newOrganization(control);
    const email = newEmail();
    const { token } = await signIn(email);
    await control.client.addSeat({ orgId, email, role: "viewer" }, control.operator);
    const invitation = await invite(orgId, email, "admin");
    const { created } = await control.client.acceptInvitation({ token: invitation.token }, await control.as(token));
    expect(created!.view!.membership).toMatchObject({ role: "admin", status: "active" });
    expect((await control.client.listSeats({ orgId }, control.operator)).seats).toHaveLength(1);
  });

  test("is for the invited person only", async () => {
    const orgId = await newOrganization(control);
    const { token } = await invite(orgId);
    await expectRefusal(accept(newEmail(), token), "invite_email_mismatch");
  });

  test("is too late when the invitation has run out", async () => {
    const orgId = await newOrganization(control);
    const { email, token } = await invite(orgId);
    control.pass({ days: 7, seconds: 1 });
    await expectRefusal(accept(email, token), "invite_expired");
  });

  test("is a conflict when the invitation was taken back", async () => {
    const orgId = await newOrganization(control);
    const { email, token, id } = await invite(orgId);
    await control.client.revokeInvitation({ orgId, invitationId: id }, control.operator);
    await expectRefusal(accept(email, token), "conflict");
  });

  test("waits for payment", async () => {
    const orgId = await newOrganization(control);
    const { email, token } = await invite(orgId);
    await bill(control, orgId, "read_only_payment_required");
    await expectRefusal(accept(email, token), "payment_required");
  });

  test("is refused when the seats have become fewer since", async () => {
    const orgId = await newOrganization(control);
    await newMember(control, orgId, "owner");
    await newMember(control, orgId, "member");
    const { email, token } = await invite(orgId);
    await control.client.updateOrganization({ orgId, planTier: "free" }, control.operator);
    await expectRefusal(accept(email, token), "invite_seat_limit_reached");
  });

  test("with a token that was never given out is not found", async () => {
    const { call } = await signIn(newEmail());
    const { text: token } = issueCredential("invite", randomBytes);
    await expectRefusal(control.client.acceptInvitation({ token }, call), "not_found");
  });

  test("needs a session", async () => {
    const { token } = await invite(await newOrganization(control));
    for (const call of [control.anyone, control.operator]) {
      await expectRefusal(control.client.acceptInvitation({ token }, call), "unauthenticated");
    }
  });
});

describe("the list of invitations", () => {
  test("comes newest first, page by page", async () => {
    const orgId = await newOrganization(control);
    const emails = [];
    for (let count = 0; count < 3; count += 1) {
      emails.unshift((await invite(orgId)).email);
      control.pass({ seconds: 1 });
    }
    const { invitations } = await control.client.listInvitations({ orgId }, control.operator);
    expect(invitations.map(({ email }) => email)).toEqual(emails);
    const page = { limit: 1, offset: 2n };
    const last = await control.client.listInvitations({ orgId, page }, control.operator);
    expect(last.invitations.map(({ email }) => email)).toEqual(emails.slice(2));
  });
});
