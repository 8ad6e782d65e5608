import { randomUUID } from "node:crypto";
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

describe("users", () => {
  test("are created with their address in lower case", async () => {
    const { user } = await control.client.createUser(
      { email: " Ada@Example.ORG ", displayName: "Ada" },
      control.operator,
    );
    expect(user).toMatchObject({ primaryEmail: "ada@example.org", displayName: "Ada", avatarUrl: "", lastSeenAt: "" });
  });

  test("are the same when they are created again, and keep what is known of them", async () => {
    const first = await control.client.createUser({ email: "bob@example.org" }, control.operator);
    const again = { email: "BOB@example.org", displayName: "Bob" };
    expect((await control.client.createUser(again, control.operator)).user).toMatchObject({
      id: first.user!.id,
      displayName: "Bob",
    });
    const other = { email: "bob@example.org", displayName: "Robert" };
    expect((await control.client.createUser(other, control.operator)).user!.displayName).toBe("Bob");
  });

  test("need an address", async () => {
    expect(await refusal(control.client.createUser({ email: "nobody" }, control.operator))).toMatchObject({
      reason: "bad_request",
      field: "email",
    });
  });

  test("are listed page by page, oldest first", async () => {
    const page = { limit: 1, offset: 0n };
    const { users: first } = await control.client.listUsers({ page }, control.operator);
    const { users: second } = await control.client.listUsers({ page: { limit: 1, offset: 1n } }, control.operator);
    const { users: all } = await control.client.listUsers({}, control.operator);
    expect([...first, ...second]).toEqual(all.slice(0, 2));
  });
});

describe("organizations", () => {
  test("get a short name from their name, and an owner when one is named", async () => {
    const { user } = await control.client.createUser({ email: "owner@example.org" }, control.operator);
    const { organization } = await control.client.createOrganization(
      { name: "Café & Söhne", planTier: "startup", ownerUserId: user!.id },
      control.operator,
    );
    expect(organization).toMatchObject({
      slug: "cafe-sohne",
      name: "Café & Söhne",
      planTier: "pro",
      billingState: "paid_active",
      accountType: "customer",
      seatLimit: 3,
      createdByUserId: user!.id,
    });
    const { seats } = await control.client.listSeats({ orgId: organization!.id }, control.operator);
    expect(seats.map(({ membership }) => membership!.role)).toEqual(["owner"]);
  });

  test("may be named by their short name alone", async () => {
    const { organization } = await control.client.createOrganization({ slug: "just-a-slug" }, control.operator);
    expect(organization).toMatchObject({ slug: "just-a-slug", name: "just-a-slug", planTier: "free" });
  });

  test("are refused under a taken short name", async () => {
    await control.client.createOrganization({ slug: "taken" }, control.operator);
    await expectRefusal(control.client.createOrganization({ slug: "taken" }, control.operator), "conflict");
  });

  test("are refused with an owner who does not exist, and nothing is left behind", async () => {
    const wish = { slug: "orphan", ownerUserId: randomUUID() };
    await expectRefusal(control.client.createOrganization(wish, control.operator), "not_found");
    expect((await control.client.checkOrganizationName({ name: "orphan" }, control.anyone)).available).toBe(true);
  });

  test("are listed to operators", async () => {
    const orgId = await newOrganization(control);
    const { organizations } = await control.client.listOrganizations({ page: { limit: 1000 } }, control.operator);
    expect(organizations.map(({ id }) => id)).toContain(orgId);
  });
});

describe("a name", () => {
  test.each([
    ["Free Name", "free-name", true],
    ["taken  INDEED!", "taken-indeed", false],
  ])("%j stands for %s", async (name, slug, available) => {
    if (!available) await control.client.createOrganization({ slug }, control.operator).catch(() => {});
    expect(await control.client.checkOrganizationName({ name }, control.anyone)).toMatchObject({
      name,
      slug,
      available,
    });
  });
});

describe("a person's organizations", () => {
  test("are listed with the current one first, without seats that only wait", async () => {
    const email = newEmail();
    const { token, view } = await signIn(control, { email });
    const [joined, waiting] = [await newOrganization(control), await newOrganization(control)];
    for (const orgId of [joined, waiting]) await control.client.addSeat({ orgId, email }, control.operator);
    await signIn(control, { email, acceptInviteOrgId: joined });
    const { memberships } = await control.client.listMemberships({}, await control.as(token));
    expect(memberships.map(({ orgId, isCurrent }) => [orgId, isCurrent])).toEqual([
      [view!.organization!.id, true],
      [joined, false],
    ]);
  });

  test("need a session", async () => {
    await expectRefusal(control.client.listMemberships({}, control.anyone), "unauthenticated");
  });
});

describe("plan and billing state", () => {
  test("are set one by one, and the plan sets its seats", async () => {
    const orgId = await newOrganization(control, "free");
    const plan = await control.client.updateOrganization({ orgId, planTier: "growth" }, control.operator);
    expect(plan.organization).toMatchObject({ planTier: "premium", billingState: "free_active", seatLimit: 10 });
    const state = await control.client.updateOrganization({ orgId, billingState: "canceled" }, control.operator);
    expect(state.organization).toMatchObject({ planTier: "premium", billingState: "canceled", seatLimit: 10 });
  });

  test.each([
    ["nothing to set", {}, "plan_tier"],
    ["a fault that the gateway found", { planTier: "pro", bodyFault: { text: "no", field: "x" } }, "x"],
  ])("are refused with %s", async (_, wish, field) => {
    const orgId = await newOrganization(control);
    expect(await refusal(control.client.updateOrganization({ orgId, ...wish }, control.operator))).toMatchObject({
      reason: "bad_request",
      field,
    });
  });

  test.each([
    ["does not exist", () => randomUUID() as string],
    ["is not an id", () => "org"],
  ])("of an organization that %s are not found, with any body", async (_, orgId) => {
    const wish = { orgId: orgId(), bodyFault: { text: "no", field: "x" } };
    await expectRefusal(control.client.updateOrganization(wish, control.operator), "not_found");
  });
});

test("only operators may manage users and organizations", async () => {
  const orgId = await newOrganization(control);
  const { call: owner } = await newMember(control, orgId, "owner");
  const key = await control.as(await newKey(control, orgId, ["api_keys:write"]));
  for (const call of [control.anyone, owner, key]) {
    await expectRefusal(control.client.createUser({ email: "a@b.co" }, call), "unauthenticated");
    await expectRefusal(control.client.listUsers({}, call), "unauthenticated");
    await expectRefusal(control.client.createOrganization({ name: "x" }, call), "unauthenticated");
    await expectRefusal(control.client.listOrganizations({}, call), "unauthenticated");
    await expectRefusal(control.client.updateOrganization({ orgId, planTier: "pro" }, call), "unauthenticated");
    await expectRefusal(control.client.ensureLocalAccess({}, call), "unauthenticated");
  }
});
