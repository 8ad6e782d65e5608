import { testSql } from "@tidemark/testkit";
import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { issueCredential, parseCredential } from "@tidemark/credentials";

import { CredentialKind } from "@tidemark/proto/control/v1/control";
import { expectRefusal, newKey, newOrganization, startControl, type Control } from "../control.fixture.ts";

let control: Control;
beforeAll(async () => {
  control = await startControl();
});
afterAll(() => control.close());

const keyOf = async (wish: { scopes?: string[]; expiresAt?: string } = {}) => {
  const orgId = await newOrganization(control);
  const { created } = await control.client.createApiKey({ orgId, ...wish }, control.operator);
  return { orgId, key: created!.key!, text: created!.plaintext };
};
const signIn = async (apiKey: string) => (await control.client.signInWithApiKey({ apiKey }, control.anyone)).created!;
const entryOf = async (token: string) => {
  const asked = { kind: CredentialKind.SESSION, id: parseCredential(token)!.id };
  return (await control.client.lookupCredential(asked, control.anyone)).entry!;
};
const viewOf = async (token: string) => (await control.client.getSession({ token }, control.anyone)).view;

describe("a session of a key", () => {
  test("has the rights of the key, in the projection too, and no user", async () => {
    const { orgId, text } = await keyOf({ scopes: ["export:read", "runs:control"] });
    const { token, view, maxAgeSeconds } = await signIn(text);
    expect(maxAgeSeconds).toBe(30 * 24 * 60 * 60);
    expect(view).toMatchObject({
      session: { orgId, userId: "" },
      organization: { id: orgId },
      memberships: [],
      keyRights: { scopes: ["export:read", "runs:control"], projectId: "" },
    });
    expect([view!.user, view!.membership]).toEqual([undefined, undefined]);
    expect(await viewOf(token)).toEqual(view);
    const entry = await entryOf(token);
    expect(entry).toMatchObject({
      orgId,
      scopes: ["export:read", "runs:control"],
      role: "",
      userId: "",
      revoked: false,
      keyId: parseCredential(text)!.id,
    });
    const { credentials } = await control.client.getProjection({ limit: 5000 }, control.anyone);
    expect(credentials.find(({ id }) => id === entry.id)).toEqual(entry);
  });

  test("ends with the key, whether that is revoked or its account disabled", async () => {
    for (const how of ["revoke", "disable"] as const) {
      const { orgId, key, text } = await keyOf();
      const { token } = await signIn(text);
      const other = await signIn(await newKey(control, orgId));
      if (how === "revoke") await control.client.revokeApiKey({ orgId, keyId: key.id }, control.operator);
      else {
        const asked = { orgId, serviceAccountId: key.serviceAccountId };
        await control.client.disableServiceAccount(asked, control.operator);
      }
      expect([how, await viewOf(token), (await entryOf(token)).revoked]).toEqual([how, undefined, true]);
      expect(await viewOf(other.token)).toBeDefined();
      await expectRefusal(control.client.signInWithApiKey({ apiKey: text }, control.anyone), "unauthenticated");
    }
  });

  test("ends when the key ends by itself", async () => {
    const own = await startControl();
    try {
      const { organization } = await own.client.createOrganization({ name: "Short", planTier: "pro" }, own.operator);
      const expiresAt = new Date(own.now().getTime() + 3_600_000).toISOString();
      const { created } = await own.client.createApiKey({ orgId: organization!.id, expiresAt }, own.operator);
      const session = (await own.client.signInWithApiKey({ apiKey: created!.plaintext }, own.anyone)).created!;
      expect(Date.parse(session.view!.session!.expiresAt)).toBe(Date.parse(expiresAt));
      expect(session.maxAgeSeconds).toBeLessThanOrEqual(3600);
      own.pass({ minutes: 61 });
      expect((await own.client.getSession({ token: session.token }, own.anyone)).view).toBeUndefined();
      await expectRefusal(own.client.signInWithApiKey({ apiKey: created!.plaintext }, own.anyone), "unauthenticated");
    } finally {
      await own.close();
    }
  });

  test("grants no more than the key holds, and no longer", async () => {
    const expiresAt = new Date(Date.now() + 86_400_000).toISOString();
    const { orgId, text } = await keyOf({ scopes: ["api_keys:write", "export:read"], expiresAt });
    const call = await control.as((await signIn(text)).token);
    const more = control.client.createApiKey({ orgId, scopes: ["sdk:ingest"] }, call);
    await expectRefusal(more, "forbidden");
    const { created } = await control.client.createApiKey({ orgId, scopes: ["export:read"] }, call);
    expect(Date.parse(created!.key!.expiresAt)).toBe(Date.parse(expiresAt));
  });

  test("beyond a hundred of one key ends the oldest", async () => {
    const { text } = await keyOf();
    const first = await signIn(text);
    for (let i = 0; i < 99; i++) await signIn(text);
    expect(await viewOf(first.token)).toBeDefined();
    await signIn(text);
    expect(await viewOf(first.token)).toBeUndefined();
  });

  test("that is signed out is recorded as what the key did", async () => {
    const { orgId, key, text } = await keyOf();
    const { token, view } = await signIn(text);
    await control.client.signOut({ token }, control.anyone);
    expect(await viewOf(token)).toBeUndefined();
    const select =
      "SELECT actor_type, actor_id, action, target_id FROM control.audit_events WHERE org_id = $1 ORDER BY at DESC LIMIT 1";
    expect(await control.ownerDb.one(testSql(select), [orgId])).toEqual({
      actor_type: "api_key",
      actor_id: key.id,
      action: "session.ended",
      target_id: view!.session!.id,
    });
  });

  test.each([
    ["nothing", () => ""],
    ["some text", () => "tm_whatever"],
    ["a key that was never issued", () => issueCredential("api_key", randomBytes).text],
    ["a credential of another kind", () => issueCredential("session", randomBytes).text],
  ])("is not opened by %s", async (_what, apiKey) => {
    await expectRefusal(control.client.signInWithApiKey({ apiKey: apiKey() }, control.anyone), "unauthenticated");
  });

  test("cannot be opened while the key is being revoked", async () => {
    for (let round = 0; round < 5; round++) {
      const { orgId, key, text } = await keyOf();
      const [opened] = await Promise.allSettled([
        signIn(text),
        control.client.revokeApiKey({ orgId, keyId: key.id }, control.operator),
      ]);
      const isLive = opened.status === "fulfilled" && !(await entryOf(opened.value.token)).revoked;
      expect(isLive).toBe(false);
    }
  });
});

describe("a one-time token", () => {
  const issue = async (own: Control) => (await own.client.ensureLocalAccess({}, own.operator)).oneTimeToken;

  test("opens one session of the owner, for only one of ten simultaneous calls", async () => {
    const token = await issue(control);
    const calls = Array.from({ length: 10 }, () => control.client.signInOnce({ token }, control.anyone));
    const results = await Promise.allSettled(calls);
    const opened = results.flatMap((result) => (result.status === "fulfilled" ? [result.value] : []));
    expect(opened).toHaveLength(1);
    const { created } = opened[0]!;
    expect(created!.view).toMatchObject({ organization: { slug: "local" }, membership: { role: "owner" } });
    expect(await viewOf(created!.token)).toEqual(created!.view);
    for (const result of results) {
      if (result.status === "rejected") expect(result.reason).toMatchObject({ reason: "unauthenticated" });
    }
  });

  test("is good for ten minutes", async () => {
    const own = await startControl();
    try {
      const [late, later] = [await issue(own), await issue(own)];
      own.pass({ minutes: 9, seconds: 50 });
      expect((await own.client.signInOnce({ token: late }, own.anyone)).created).toBeDefined();
      own.pass({ seconds: 11 });
      await expectRefusal(own.client.signInOnce({ token: later }, own.anyone), "unauthenticated");
    } finally {
      await own.close();
    }
  });

  test.each([
    ["nothing", () => ""],
    ["one that was never issued", () => issueCredential("one_time", randomBytes).text],
    ["a credential of another kind", () => issueCredential("api_key", randomBytes).text],
  ])("is not %s", async (_what, token) => {
    await expectRefusal(control.client.signInOnce({ token: token() }, control.anyone), "unauthenticated");
  });
});
