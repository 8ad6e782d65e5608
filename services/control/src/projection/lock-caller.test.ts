import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { testSql } from "@tidemark/testkit";
import type { Call } from "@tidemark/rpc";
import { expectRefusal, newEmail, newMember, newOrganization, startControl, type Control } from "../control.fixture.ts";

// A gateway admitted the caller, and the caller's credential ended before the service began.

let control: Control;
beforeAll(async () => {
  control = await startControl();
});
afterAll(() => control.close());

type Act = (orgId: string, call: Call) => Promise<unknown>;

const invited = async (orgId: string): Promise<string> =>
  (await control.client.createInvitation({ orgId, email: newEmail() }, control.operator)).sent!.invitation!.id;

/** Acts that give a person a place in an organization, or withdraw an offer of one. */
const acts: readonly (readonly [string, (orgId: string) => Promise<Act>])[] = [
  ["inviting", async () => (orgId, call) => control.client.createInvitation({ orgId, email: newEmail() }, call)],
  [
    "sending an invitation again",
    async (made) => {
      const invitationId = await invited(made);
      control.pass({ minutes: 10 });
      return (orgId, call) => control.client.resendInvitation({ orgId, invitationId }, call);
    },
  ],
  [
    "revoking an invitation",
    async (made) => {
      const invitationId = await invited(made);
      return (orgId, call) => control.client.revokeInvitation({ orgId, invitationId }, call);
    },
  ],
  ["reserving a seat", async () => (orgId, call) => control.client.addSeat({ orgId, email: newEmail() }, call)],
];

/** Everything of an organization that such an act changes. */
const stateOf = (orgId: string) =>
  control.ownerDb.rows(
    testSql(
      `SELECT 'invitation' AS kind, email, status, credential_id FROM control.invitations WHERE org_id = $1
       UNION ALL SELECT 'seat', user_id::text, status, role FROM control.memberships WHERE org_id = $1
       UNION ALL SELECT 'event', action, target_id, '' FROM control.audit_events WHERE org_id = $1 ORDER BY 1, 2, 3, 4`,
    ),
    [orgId],
  );

describe.each(acts)("%s", (_, prepare) => {
  test.each([
    [
      "was removed from the organization",
      "unauthenticated",
      "DELETE FROM control.memberships WHERE org_id = $1 AND user_id = $2",
    ],
    [
      "signed out",
      "unauthenticated",
      "UPDATE control.sessions SET revoked_at = now() WHERE org_id = $1 AND user_id = $2",
    ],
    [
      "is a member now",
      "forbidden",
      "UPDATE control.memberships SET role = 'member' WHERE org_id = $1 AND user_id = $2",
    ],
  ] as const)("is refused to an admin who %s, and changes nothing", async (_how, reason, statement) => {
    const orgId = await newOrganization(control);
    const { userId, call } = await newMember(control, orgId, "admin");
    const act = await prepare(orgId);
    await control.ownerDb.rows(testSql(statement), [orgId, userId]);
    const before = await stateOf(orgId);
    await expectRefusal(act(orgId, call), reason);
    expect(await stateOf(orgId)).toEqual(before);
  });
});

test("an organization is not made by a session that has ended", async () => {
  const orgId = await newOrganization(control);
  const { userId, call } = await newMember(control, orgId, "admin");
  const ended = testSql("UPDATE control.sessions SET revoked_at = now() WHERE org_id = $1 AND user_id = $2");
  await control.ownerDb.rows(ended, [orgId, userId]);
  await expectRefusal(control.client.createOwnOrganization({ name: `Mine ${userId}` }, call), "unauthenticated");
});
