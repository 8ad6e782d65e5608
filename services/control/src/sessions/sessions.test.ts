import { randomBytes, randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { issueCredential, parseCredential } from "@tidemark/credentials";
import { expectRefusal, newEmail, newOrganization, signIn, startControl, type Control } from "../control.fixture.ts";

let control: Control;
beforeAll(async () => {
  control = await startControl();
});
afterAll(() => control.close());

describe("who is signed in", () => {
  test("is told to the holder of the session", async () => {
    const { token, view } = await signIn(control, { email: newEmail() });
    const found = await control.client.getSession({ token }, control.anyone);
    expect(found.view).toEqual(view);
  });

  test.each([
    ["no cookie", () => ""],
    ["some text", () => "tm_session_whatever"],
    ["a session that was never issued", () => issueCredential("session", randomBytes).text],
    ["a credential of another kind", () => issueCredential("api_key", randomBytes).text],
  ])("is absent with %s", async (_, token) => {
    expect((await control.client.getSession({ token: token() }, control.anyone)).view).toBeUndefined();
  });

  test("is absent when only the id of the session matches", async () => {
    const { token } = await signIn(control, { email: newEmail() });
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

  test("is absent after thirty days", async () => {
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

  test("is absent after a hundred later sign-ins of the same person there, which end the oldest", async () => {
    const email = newEmail();
    const tokens: string[] = [];
    for (let i = 0; i < 102; i++) tokens.push((await signIn(control, { email })).token);
    const lives = await Promise.all(
      tokens.map(async (token) => (await control.client.getSession({ token }, control.anyone)).view !== undefined),
    );
    expect(lives).toEqual(tokens.map((_, i) => i >= 2));
  });

  test("is absent after signing out, which can be repeated", async () => {
    const { token } = await signIn(control, { email: newEmail() });
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
    const { token } = await signIn(control, { email });
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
    const { token, view } = await signIn(control, { email: newEmail() });
    const orgId = view!.organization!.id;
    const { created } = await control.client.switchOrganization({ orgId }, await control.as(token));
    expect(created!.token).toBe("");
    expect(created!.view).toEqual(view);
  });

  test.each([
    ["does not have the person as a member", () => newOrganization(control)],
    ["does not exist", () => Promise.resolve(randomUUID() as string)],
    ["is not an id", () => Promise.resolve("org")],
  ])("to one that %s is forbidden, and the session stays", async (_, target) => {
    const { token } = await signIn(control, { email: newEmail() });
    const orgId = await target();
    await expectRefusal(control.client.switchOrganization({ orgId }, await control.as(token)), "forbidden");
    expect((await control.client.getSession({ token }, control.anyone)).view).toBeDefined();
  });

  test("to one that only waits for the person is forbidden", async () => {
    const email = newEmail();
    const { token } = await signIn(control, { email });
    const orgId = await newOrganization(control);
    await control.client.addSeat({ orgId, email }, control.operator);
    await expectRefusal(control.client.switchOrganization({ orgId }, await control.as(token)), "forbidden");
  });

  test("is refused to a session that has ended, wherever it wants to go", async () => {
    const email = newEmail();
    const { token, view } = await signIn(control, { email });
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

  test("twice simultaneously opens one session", async () => {
    const email = newEmail();
    const { token } = await signIn(control, { email });
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
    await signIn(control, { email, acceptInviteOrgId: orgId });
  }
});
