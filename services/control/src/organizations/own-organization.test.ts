import { testSql } from "@tidemark/testkit";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";

import {
  expectRefusal,
  newEmail,
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

describe("creating one's own organization", () => {
  const caller = async () => {
    const { token, view } = await signIn(control, { email: newEmail() });
    return { token, view: view!, call: await control.as(token) };
  };

  test("moves its owner there, with a new session", async () => {
    const { token, call } = await caller();
    const wish = { name: "Second Home", switchOnCreate: true };
    const answer = await control.client.createOwnOrganization(wish, call);
    expect(answer).toMatchObject({
      organization: { slug: "second-home", accountType: "business", planTier: "free", seatLimit: 2 },
      membership: { role: "owner", status: "active" },
      invitations: [],
    });
    expect(answer.memberships[0]).toMatchObject({ slug: "second-home", isCurrent: true });
    expect(answer.created!.view!.organization!.id).toBe(answer.organization!.id);
    expect((await control.client.getSession({ token }, control.anyone)).view).toBeUndefined();
  });

  test("is refused to a user who is already in 100", async () => {
    const { view, call } = await caller();
    const fill = testSql(`WITH made AS (
         INSERT INTO control.organizations (org_id, slug, name, plan_tier, billing_state, account_type, seat_limit)
         SELECT gen_random_uuid(), 'many-' || $1::text || n, 'many', 'free', 'free_active', 'business', 2 FROM generate_series(1, 98) n
         RETURNING org_id
       )
       INSERT INTO control.memberships (org_id, id, user_id, role, status)
       SELECT org_id, gen_random_uuid(), $1::uuid, 'member', 'active' FROM made`);
    await control.ownerDb.rows(fill, [view.user!.id]);
    await control.client.createOwnOrganization({ name: "Number One Hundred" }, call);
    const one = control.client.createOwnOrganization({ name: "One Too Many" }, call);
    await expectRefusal(one, "bad_request");
  });

  test("leaves its owner where they are when they do not switch", async () => {
    const { token, view, call } = await caller();
    const answer = await control.client.createOwnOrganization({ name: "Weekend House" }, call);
    expect(answer.created).toBeUndefined();
    expect(answer.memberships[0]).toMatchObject({ orgId: view.organization!.id, isCurrent: true });
    expect((await control.client.getSession({ token }, control.anyone)).view).toBeDefined();
  });

  test("invites whom its owner names, each once", async () => {
    const { call } = await caller();
    const email = newEmail();
    const wish = {
      name: "With Friends",
      initialInvitations: [{ email, role: "viewer" }, { email: email.toUpperCase() }],
    };
    const { invitations } = await control.client.createOwnOrganization({ ...wish, baseUrl: "https://t.example" }, call);
    expect(invitations).toHaveLength(1);
    expect(invitations[0]!.invitation).toMatchObject({
      email,
      role: "viewer",
      status: "pending",
      deliveryStatus: "sent",
    });
    expect(invitations[0]!.previewLink).toMatch(/^https:\/\/t\.example\/invite#token=tm_invite_/);
  });

  test.each([
    ["on a plan that costs", { name: "x", planTier: "premium" }, "billing_unavailable"],
    ["that invites a text that is not an address", { name: "x", initialInvitations: [{ email: "y" }] }, "bad_request"],
    [
      "that is personal and invites",
      { name: "x", accountType: "personal", initialInvitations: [{ email: "y@z.co" }] },
      "personal_workspace_invite_forbidden",
    ],
    [
      "with more people than seats",
      { name: "Too Many", initialInvitations: [{ email: "y@z.co" }, { email: "z@z.co" }] },
      "invite_seat_limit_reached",
    ],
  ] as const)("%s is refused, and nothing is created", async (_, wish, reason) => {
    const { call } = await caller();
    await expectRefusal(
      control.client.createOwnOrganization(wish as Parameters<Control["client"]["createOwnOrganization"]>[0], call),
      reason,
    );
    expect((await control.client.listMemberships({}, call)).memberships).toHaveLength(1);
  });

  test("that is personal is possible once, also when two are requested simultaneously", async () => {
    const orgId = await newOrganization(control);
    const { call } = await newMember(control, orgId, "member");
    const outcomes = await Promise.allSettled(
      ["Mine", "Mine Too"].map((name) => control.client.createOwnOrganization({ name, accountType: "personal" }, call)),
    );
    expect(outcomes.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
  });

  test("that invites is refused where no messages are sent", async () => {
    const silent = await startControl({ mail: "off" });
    try {
      const { created } = await silent.client.signInForDevelopment({ email: "a@b.co" }, silent.anyone);
      const call = await silent.as(created!.token);
      const wish = { name: "x", initialInvitations: [{ email: "y@z.co" }] };
      await expectRefusal(silent.client.createOwnOrganization(wish, call), "email_delivery_unavailable");
    } finally {
      await silent.close();
    }
  });

  test("needs a session", async () => {
    await expectRefusal(control.client.createOwnOrganization({ name: "x" }, control.operator), "unauthenticated");
  });
});
