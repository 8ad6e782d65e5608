import { randomBytes, randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { issueCredential, parseCredential } from "@tidemark/credentials";
import { expectRefusal, newMember, newOrganization, refusal, startControl, type Control } from "./fixture.ts";

let control: Control;
beforeAll(async () => {
  control = await startControl();
});
afterAll(() => control.close());

const signIn = async (wish: Parameters<Control["client"]["signInForDevelopment"]>[0]) =>
  (await control.client.signInForDevelopment(wish, control.anyone)).created!;
let persons = 0;
const newEmail = (): string => {
  persons += 1;
  return `person${persons}@example.org`;
};

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
    const { view, token, maxAgeSeconds } = await signIn({ email: "Ada@Example.org", displayName: "Ada Lovelace" });
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
    const first = await signIn({ email: "grace@one.example.org" });
    const second = await signIn({ email: "grace@two.example.org" });
    expect(first.view!.organization!.slug).toBe("grace");
    expect(second.view!.organization).toMatchObject({
      name: "grace",
      slug: expect.stringMatching(/^grace-[0-9a-f]{6}$/),
    });
  });

  test("makes the organization that a new person names, with seats for others", async () => {
    const wish = { email: newEmail(), orgName: "Engines", seatEmails: ["Mate@example.org", "mate@example.org"] };
    const { view } = await signIn(wish);
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
    const mate = await signIn({ email: "mate@example.org" });
    expect(mate.view!.membership).toMatchObject({ orgId: view!.organization!.id, role: "member", status: "active" });
  });

  test("brings a known person back to where they were last", async () => {
    const email = newEmail();
    const first = await signIn({ email });
    const orgId = await newOrganization(control);
    await control.client.addSeat({ orgId, email }, control.operator);
    control.pass({ seconds: 1 });
    const again = await signIn({ email });
    expect(again.view!.organization!.id).toBe(first.view!.organization!.id);
    control.pass({ seconds: 1 });
    await signIn({ email, acceptInviteOrgId: orgId });
    control.pass({ seconds: 1 });
    expect((await signIn({ email })).view!.organization!.id).toBe(orgId);
  });

  test("asks which of several waiting organizations is meant", async () => {
    const email = newEmail();
    const waiting = [await newOrganization(control), await newOrganization(control)];
    for (const orgId of waiting) await control.client.addSeat({ orgId, email }, control.operator);
    await expectRefusal(control.client.signInForDevelopment({ email }, control.anyone), "multiple_pending_invites");
    const { view } = await signIn({ email, acceptInviteOrgId: waiting[1]! });
    expect(view!.organization!.id).toBe(waiting[1]);
  });

  test("into an organization where nobody waits for the person is not found", async () => {
    const wish = { email: newEmail(), acceptInviteOrgId: await newOrganization(control) };
    await expectRefusal(control.client.signInForDevelopment(wish, control.anyone), "not_found");
  });

  test("accepts the invitation that the person brings", async () => {
    const orgId = await newOrganization(control);
    const email = newEmail();
    const { sent } = await control.client.createInvitation({ orgId, email, role: "admin" }, control.operator);
    const acceptInviteToken = sent!.previewLink.split("token=")[1]!;
    const { view } = await signIn({ email, acceptInviteToken });
    expect(view!.membership).toMatchObject({ orgId, role: "admin", status: "active" });
  });

  test("under a taken name is a conflict, and leaves no user behind", async () => {
    await signIn({ email: newEmail(), orgName: "Taken Name" });
    const email = newEmail();
    const wish = { email, orgName: "taken name" };
    await expectRefusal(control.client.signInForDevelopment(wish, control.anyone), "conflict");
    const { users } = await control.client.listUsers({ page: { limit: 1000 } }, control.operator);
    expect(users.map(({ primaryEmail }) => primaryEmail)).not.toContain(email);
  });

  test.each([
    ["no address", { email: "x" }, "bad_request", "email"],
    ["an unknown mode", { email: "a@b.co", mode: "guess" }, "bad_request", "mode"],
    [
      "an unknown kind of account",
      { email: "a@b.co", orgName: "x", accountType: "cloud" },
      "bad_request",
      "account_type",
    ],
    ["an unknown plan", { email: "a@b.co", planTier: "gold" }, "bad_request", "plan_tier"],
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

  test("of one new person many times at once makes one user and one organization", async () => {
    const email = newEmail();
    const created = await Promise.all(Array.from({ length: 6 }, () => signIn({ email })));
    expect(new Set(created.map(({ view }) => view!.user!.id)).size).toBe(1);
    expect(new Set(created.map(({ view }) => view!.organization!.id)).size).toBe(1);
    expect(new Set(created.map(({ token }) => token)).size).toBe(6);
  });
});

describe("who is signed in", () => {
  test("is told to the holder of the session", async () => {
    const { token, view } = await signIn({ email: newEmail() });
    const found = await control.client.getSession({ token }, control.anyone);
    expect(found.view).toEqual(view);
  });

  test.each([
    ["no cookie", () => ""],
    ["some text", () => "tm_session_whatever"],
    ["a session that was never given out", () => issueCredential("session", randomBytes).text],
    ["a credential of another kind", () => issueCredential("api_key", randomBytes).text],
  ])("is nobody with %s", async (_, token) => {
    expect((await control.client.getSession({ token: token() }, control.anyone)).view).toBeUndefined();
  });

  test("is nobody when only the id of the session is right", async () => {
    const { token } = await signIn({ email: newEmail() });
    const id = parseCredential(token)!.id;
    // A well-formed credential of this id with another secret.
    let text = "";
    while (parseCredential(text)?.id !== id) {
      const ids = Array.from(id, (digit) =>
        "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz".indexOf(digit),
      );
      let first = true;
      text = issueCredential("session", (count) => {
        const bytes = first && count === id.length ? Uint8Array.from(ids) : randomBytes(count);
        first = false;
        return bytes;
      }).text;
    }
    expect((await control.client.getSession({ token: text }, control.anyone)).view).toBeUndefined();
    await control.client.signOut({ token: text }, control.anyone);
    expect((await control.client.getSession({ token }, control.anyone)).view).toBeDefined();
  });

  test("is nobody after thirty days", async () => {
    const old = await startControl();
    try {
      const { created } = await old.client.signInForDevelopment({ email: "a@b.co" }, old.anyone);
      const { token } = created!;
      old.pass({ days: 29 });
      expect((await old.client.getSession({ token }, old.anyone)).view).toBeDefined();
      old.pass({ days: 1, seconds: 1 });
      expect((await old.client.getSession({ token }, old.anyone)).view).toBeUndefined();
    } finally {
      await old.close();
    }
  });

  test("is nobody after signing out, which can be repeated", async () => {
    const { token } = await signIn({ email: newEmail() });
    for (let times = 0; times < 2; times += 1) {
      await control.client.signOut({ token }, control.anyone);
      expect((await control.client.getSession({ token }, control.anyone)).view).toBeUndefined();
    }
    await control.client.signOut({ token: "" }, control.anyone);
  });
});

describe("switching organizations", () => {
  test("ends the session and opens one in the other organization", async () => {
    const email = newEmail();
    const { token } = await signIn({ email });
    const orgId = await newOrganization(control);
    await newMemberOf(orgId, email);
    const { created } = await control.client.switchOrganization({ orgId }, await control.as(token));
    expect(created!.view).toMatchObject({ organization: { id: orgId }, membership: { role: "member" } });
    expect(created!.view!.memberships.map(({ isCurrent }) => isCurrent)).toEqual([true, false]);
    expect((await control.client.getSession({ token }, control.anyone)).view).toBeUndefined();
    const found = await control.client.getSession({ token: created!.token }, control.anyone);
    expect(found.view!.session!.orgId).toBe(orgId);
  });

  test("to where the person is already keeps the session", async () => {
    const { token, view } = await signIn({ email: newEmail() });
    const orgId = view!.organization!.id;
    const { created } = await control.client.switchOrganization({ orgId }, await control.as(token));
    expect(created!.token).toBe("");
    expect(created!.view).toEqual(view);
  });

  test.each([
    ["the person is no member of", () => newOrganization(control)],
    ["does not exist", () => Promise.resolve(randomUUID() as string)],
    ["is no id", () => Promise.resolve("org")],
  ])("to one that %s is forbidden, and the session stays", async (_, target) => {
    const { token } = await signIn({ email: newEmail() });
    const orgId = await target();
    await expectRefusal(control.client.switchOrganization({ orgId }, await control.as(token)), "forbidden");
    expect((await control.client.getSession({ token }, control.anyone)).view).toBeDefined();
  });

  test("to one that only waits for the person is forbidden", async () => {
    const email = newEmail();
    const { token } = await signIn({ email });
    const orgId = await newOrganization(control);
    await control.client.addSeat({ orgId, email }, control.operator);
    await expectRefusal(control.client.switchOrganization({ orgId }, await control.as(token)), "forbidden");
  });

  test("is refused to a session that has ended, wherever it wants to go", async () => {
    const email = newEmail();
    const { token, view } = await signIn({ email });
    const orgId = await newOrganization(control);
    await newMemberOf(orgId, email);
    const call = await control.as(token);
    await control.client.signOut({ token }, control.anyone);
    for (const target of [orgId, view!.organization!.id]) {
      await expectRefusal(control.client.switchOrganization({ orgId: target }, call), "unauthenticated");
    }
    const wish = { name: "Nowhere", switchOnCreate: true };
    await expectRefusal(control.client.createOwnOrganization(wish, call), "unauthenticated");
  });

  test("twice at once opens one session", async () => {
    const email = newEmail();
    const { token } = await signIn({ email });
    const orgId = await newOrganization(control);
    await newMemberOf(orgId, email);
    const call = await control.as(token);
    const outcomes = await Promise.allSettled(
      Array.from({ length: 3 }, () => control.client.switchOrganization({ orgId }, call)),
    );
    expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  });

  test("needs a session", async () => {
    const orgId = await newOrganization(control);
    for (const call of [control.anyone, control.operator]) {
      await expectRefusal(control.client.switchOrganization({ orgId }, call), "unauthenticated");
    }
  });

  async function newMemberOf(orgId: string, email: string): Promise<void> {
    await control.client.addSeat({ orgId, email }, control.operator);
    await signIn({ email, acceptInviteOrgId: orgId });
  }
});

describe("a person's organizations", () => {
  test("are listed with the current one first, without seats that only wait", async () => {
    const email = newEmail();
    const { token, view } = await signIn({ email });
    const [joined, waiting] = [await newOrganization(control), await newOrganization(control)];
    for (const orgId of [joined, waiting]) await control.client.addSeat({ orgId, email }, control.operator);
    await signIn({ email, acceptInviteOrgId: joined });
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

describe("a name", () => {
  test.each([
    ["Free Name", "free-name", true],
    ["  --Ünïcode-- ", "unicode", true],
    ["Taken Indeed", "taken-indeed", false],
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

describe("making an organization of one's own", () => {
  const caller = async () => {
    const { token, view } = await signIn({ email: newEmail() });
    return { token, view: view!, call: await control.as(token) };
  };

  test("brings its owner there, with a new session", async () => {
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

  test("leaves its owner where they are when they wish so", async () => {
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
    expect(invitations[0]!.previewLink).toMatch(/^https:\/\/t\.example\/invitations\/accept#token=tm_invite_/);
  });

  test.each([
    ["without a name", { name: "" }, "bad_request"],
    ["of a kind that people do not make", { name: "x", accountType: "customer" }, "bad_request"],
    ["on a plan that costs", { name: "x", planTier: "premium" }, "billing_unavailable"],
    ["that invites nobody in particular", { name: "x", initialInvitations: [{ email: "y" }] }, "bad_request"],
    ["that invites an owner", { name: "x", initialInvitations: [{ email: "y@z.co", role: "owner" }] }, "bad_request"],
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
  ] as const)("%s is refused, and nothing is made", async (_, wish, reason) => {
    const { call } = await caller();
    await expectRefusal(
      control.client.createOwnOrganization(wish as Parameters<Control["client"]["createOwnOrganization"]>[0], call),
      reason,
    );
    expect((await control.client.listMemberships({}, call)).memberships).toHaveLength(1);
  });

  test("under a taken name is a conflict", async () => {
    const { call } = await caller();
    await control.client.createOrganization({ slug: "occupied" }, control.operator);
    await expectRefusal(control.client.createOwnOrganization({ name: "Occupied" }, call), "conflict");
  });

  test("for oneself is possible once, also when asked for twice at once", async () => {
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
