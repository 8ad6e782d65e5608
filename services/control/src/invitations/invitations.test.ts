import { testSql } from "@tidemark/testkit";
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import {
  expectRefusal,
  newEmail,
  newKey,
  newMember,
  newOrganization,
  refusal,
  startControl,
  type Control,
} from "../control.fixture.ts";

import { accept, invite } from "./invitations.fixture.ts";

let control: Control;
beforeAll(async () => {
  control = await startControl();
});
afterAll(() => control.close());

describe("an invitation", () => {
  test("is refused while a thousand of the organization are pending, where the plan bounds no seats", async () => {
    const unbounded = await startControl({ seatLimits: false });
    try {
      const orgId = await newOrganization(unbounded);
      await unbounded.ownerDb.rows(
        testSql(`INSERT INTO control.invitations (org_id, id, email, role, credential_id, hash, expires_at, last_sent_at)
           SELECT $1, gen_random_uuid(), i || '@guests.example', 'viewer', 'pending ' || i, sha256('x'), now() + interval '1 day', now()
           FROM generate_series(1, 999) i`),
        [orgId],
      );
      await invite(unbounded, orgId, "last@guests.example", "viewer");
      const wish = { orgId, email: "more@guests.example", role: "viewer" };
      await expectRefusal(unbounded.client.createInvitation(wish, unbounded.operator), "bad_request");
    } finally {
      await unbounded.close();
    }
  });

  test("is sent to the address, with a link that carries its token behind a hash", async () => {
    const orgId = await newOrganization(control);
    const { sent, email, token } = await invite(control, orgId, " New.Guest@Example.org ", "admin");
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
    expect(sent.previewLink).toBe(`http://127.0.0.1:8080/invite#token=${token}`);
    expect(control.mail.sent.at(-1)).toMatchObject({
      to: "new.guest@example.org",
      role: "admin",
      link: sent.previewLink,
    });
  });

  test("is for a member when no role is named", async () => {
    const { sent } = await invite(control, await newOrganization(control));
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

  test.each([["a fault that the gateway found", { email: "x@y.co", bodyFault: { text: "no", field: "z" } }, "z"]])(
    "with %s is refused",
    async (_, wish, field) => {
      const orgId = await newOrganization(control);
      expect(await refusal(control.client.createInvitation({ orgId, ...wish }, control.operator))).toMatchObject({
        reason: "bad_request",
        field,
      });
    },
  );

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
    const { email } = await invite(control, orgId);
    await expectRefusal(
      control.client.createInvitation({ orgId, email: email.toUpperCase() }, control.operator),
      "invite_already_pending",
    );
  });

  test("of the same person twice simultaneously is created once", async () => {
    const orgId = await newOrganization(control);
    const email = newEmail();
    const outcomes = await Promise.allSettled([invite(control, orgId, email), invite(control, orgId, email)]);
    expect(outcomes.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
  });

  test("may follow one that expired or was revoked", async () => {
    const orgId = await newOrganization(control);
    const { email } = await invite(control, orgId);
    control.pass({ days: 7, seconds: 1 });
    const { id } = await invite(control, orgId, email);
    await control.client.revokeInvitation({ orgId, invitationId: id }, control.operator);
    await invite(control, orgId, email);
    const { invitations } = await control.client.listInvitations({ orgId }, control.operator);
    expect(invitations.map(({ status }) => status).toSorted()).toEqual(["expired", "pending", "revoked"]);
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
    ["admin", true],
    ["member", false],
  ] as const)("a session of role %s: %s", async (role, allowed) => {
    const orgId = await newOrganization(control);
    const { call } = await newMember(control, orgId, role);
    const outcome = await Promise.allSettled([
      control.client.createInvitation({ orgId, email: newEmail() }, call),
      control.client.listInvitations({ orgId }, call),
    ]);
    expect(outcome.map(({ status }) => status === "fulfilled")).toEqual([allowed, allowed]);
  });

  test("no key, regardless of its scopes", async () => {
    const orgId = await newOrganization(control);
    const { id } = await invite(control, orgId);
    const call = await control.as(await newKey(control, orgId, ["api_keys:write", "artifacts:manage"]));
    const wish = { orgId, invitationId: id };
    await expectRefusal(control.client.createInvitation({ orgId, email: newEmail() }, call), "forbidden");
    await expectRefusal(control.client.listInvitations({ orgId }, call), "forbidden");
    await expectRefusal(control.client.resendInvitation(wish, call), "forbidden");
    await expectRefusal(control.client.revokeInvitation(wish, call), "forbidden");
  });

  test("other organizations cannot see that an organization has invitations", async () => {
    const [own, other] = [await newOrganization(control), await newOrganization(control)];
    const { id } = await invite(control, other);
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
  test("makes a new token and a new end, and the old token does not work", async () => {
    const orgId = await newOrganization(control);
    const { id, token } = await invite(control, orgId);
    control.pass({ days: 1 });
    const { sent } = await control.client.resendInvitation({ orgId, invitationId: id }, control.operator);
    const renewed = sent!.previewLink.split("token=")[1]!;
    expect(renewed).not.toBe(token);
    await expectRefusal(control.client.previewInvitation({ token }, control.anyone), "not_found");
    const preview = await control.client.previewInvitation({ token: renewed }, control.anyone);
    expect(preview.expiresAt).toBe(sent!.invitation!.expiresAt);
    expect(Date.parse(preview.expiresAt) - control.now().getTime()).toBeGreaterThan(6.9 * 86_400_000);
  });

  test("is too late when the invitation has expired", async () => {
    const orgId = await newOrganization(control);
    const wish = { orgId, invitationId: (await invite(control, orgId)).id };
    control.pass({ days: 7, seconds: 1 });
    await expectRefusal(control.client.resendInvitation(wish, control.operator), "invite_expired");
  });

  test("is a conflict when the invitation was revoked or accepted", async () => {
    const orgId = await newOrganization(control);
    const revoked = await invite(control, orgId);
    await control.client.revokeInvitation({ orgId, invitationId: revoked.id }, control.operator);
    const accepted = await invite(control, orgId);
    await accept(control, accepted.email, accepted.token);
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

describe("the list of invitations", () => {
  test("is sorted newest first, page by page", async () => {
    const orgId = await newOrganization(control);
    const emails = [];
    for (let count = 0; count < 3; count += 1) {
      emails.unshift((await invite(control, orgId)).email);
      control.pass({ seconds: 1 });
    }
    const { invitations } = await control.client.listInvitations({ orgId }, control.operator);
    expect(invitations.map(({ email }) => email)).toEqual(emails);
    const page = { limit: 1, offset: 2n };
    const last = await control.client.listInvitations({ orgId, page }, control.operator);
    expect(last.invitations.map(({ email }) => email)).toEqual(emails.slice(2));
  });
});
