import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { expectRefusal, newEmail, newOrganization, signIn, startControl, type Control } from "../control.fixture.ts";
import { invite, visit } from "./invitations.fixture.ts";

let control: Control;
beforeAll(async () => {
  control = await startControl({ devAuth: false });
});
afterAll(() => control.close());

const enter = (token: string, fromThisMachine = true, from = control) =>
  from.client.signInWithInvitation({ token, fromThisMachine }, from.anyone);

describe("the link of an invitation", () => {
  test("makes its receiver a member and signs them in, once", async () => {
    const orgId = await newOrganization(control);
    const { email, token, id } = await invite(control, orgId, newEmail(), "viewer");
    const answers = await Promise.allSettled([enter(token), enter(token)]);
    const opened = answers.flatMap((answer) => (answer.status === "fulfilled" ? [answer.value.created!] : []));
    expect(opened).toHaveLength(1);
    expect(opened[0]!.view).toMatchObject({
      user: { primaryEmail: email },
      organization: { id: orgId },
      membership: { role: "viewer", status: "active" },
    });
    expect((await control.client.getSession({ token: opened[0]!.token }, control.anyone)).view).toBeDefined();
    await expectRefusal(enter(token), "conflict");
    const { invitations } = await control.client.listInvitations({ orgId }, control.operator);
    expect(invitations).toMatchObject([{ id, status: "accepted" }]);
    const audit = await control.db.withTenant(orgId, (tx) =>
      tx.rows<{ action: string; actor_id: string }>(
        { name: "audit", text: "SELECT action, actor_id FROM control.audit_events WHERE org_id = $1" },
        [orgId],
      ),
    );
    expect(audit).toContainEqual({ action: "member.joined", actor_id: opened[0]!.view!.user!.id });
  });

  test("does not work after it was revoked, sent again or has expired", async () => {
    const own = await startControl({ devAuth: false });
    try {
      const orgId = await newOrganization(own);
      const revoked = await invite(own, orgId);
      await own.client.revokeInvitation({ orgId, invitationId: revoked.id }, own.operator);
      await expectRefusal(enter(revoked.token, true, own), "conflict");
      const late = await invite(own, orgId);
      own.pass({ minutes: 16 });
      const again = { orgId, invitationId: late.id, baseUrl: "http://127.0.0.1:8080" };
      await own.client.resendInvitation(again, own.operator);
      await expectRefusal(enter(late.token, true, own), "not_found");
      const expired = await invite(own, orgId);
      own.pass({ minutes: 7 * 24 * 60 + 1 });
      await expectRefusal(enter(expired.token, true, own), "invite_expired");
    } finally {
      await own.close();
    }
  });

  test("does not sign in as a member, who may have joined in another way meanwhile", async () => {
    const open = await startControl();
    try {
      const orgId = await newOrganization(open);
      const { email, token } = await invite(open, orgId);
      await open.client.addSeat({ orgId, email, role: "admin" }, open.operator);
      await signIn(open, { email, acceptInviteOrgId: orgId });
      await expectRefusal(enter(token, true, open), "forbidden");
    } finally {
      await open.close();
    }
  });

  test("signs in to this organization only: a person with another one signs in themselves", async () => {
    const open = await startControl();
    try {
      const email = newEmail();
      await visit(open, email);
      const { token } = await invite(open, await newOrganization(open), email);
      await expectRefusal(enter(token, true, open), "forbidden");
    } finally {
      await open.close();
    }
  });

  test("signs in on the machine or for development, and nowhere with an identity provider", async () => {
    const { token } = await invite(control, await newOrganization(control));
    await expectRefusal(enter(token, false), "unauthenticated");
    const enabled = async (from: Control, fromThisMachine: boolean) =>
      (await from.client.getAuthConfig({ fromThisMachine }, from.anyone)).invitationEnabled;
    expect([await enabled(control, true), await enabled(control, false)]).toEqual([true, false]);
    const open = await startControl();
    const oidc = await startControl({ oidc: {} as never });
    try {
      expect([await enabled(open, true), await enabled(open, false)]).toEqual([true, true]);
      expect([await enabled(oidc, true), await enabled(oidc, false)]).toEqual([false, false]);
      const closed = await invite(oidc, await newOrganization(oidc));
      await expectRefusal(enter(closed.token, true, oidc), "unauthenticated");
    } finally {
      await Promise.all([open.close(), oidc.close()]);
    }
  });
});
