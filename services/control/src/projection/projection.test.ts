import { testSql } from "@tidemark/testkit";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { parseCredential } from "@tidemark/credentials";
import type { Tx } from "@tidemark/pg";
import { CredentialKind } from "@tidemark/proto/control/v1/control";
import { bill, newKey, newMember, newOrganization, startControl, type Control } from "../control.fixture.ts";
import { revokeApiKeyRow } from "../keys/keys.sql.ts";
import { updateMembership } from "../organizations/memberships.sql.ts";
import { projectionChangedSubject } from "./lock-caller.ts";
import { readProjection, restingCursor } from "./projection.fixture.ts";

let control: Control;
beforeAll(async () => {
  control = await startControl();
});
afterAll(() => control.close());

const idOf = (text: string): string => parseCredential(text)!.id;

/** Begins a transaction that stays open until `commit` is called. */
function openTransaction(orgId: string, work: (tx: Tx) => Promise<unknown>) {
  let end = (): void => {};
  let begun = (): void => {};
  const worked = new Promise<void>((resolve) => {
    begun = resolve;
  });
  const held = new Promise<void>((resolve) => {
    end = resolve;
  });
  const done = control.db.withTenant(orgId, async (tx) => {
    await work(tx);
    begun();
    await held;
  });
  return {
    worked,
    commit: async () => {
      end();
      await done;
    },
  };
}

describe("a snapshot", () => {
  test("holds every organization and live credential once, in pages of any size", async () => {
    const orgId = await newOrganization(control);
    const keys = await Promise.all([newKey(control, orgId), newKey(control, orgId), newKey(control, orgId)]);
    const member = await newMember(control, orgId, "member");
    const wanted = [...keys, member.token].map(idOf);
    const whole = await readProjection(control);
    const paged = await readProjection(control, "", 2);
    expect(paged.pages.every((page) => page.organizations.length + page.credentials.length <= 2)).toBe(true);
    expect(paged.pages.slice(1).some((page) => page.fromStart)).toBe(false);
    for (const { organizations, credentials, fromStart } of [whole, paged]) {
      expect(fromStart).toBe(true);
      expect(organizations.filter(({ id }) => id === orgId)).toHaveLength(1);
      expect(credentials.map(({ id }) => id)).toEqual(expect.arrayContaining(wanted));
      expect(new Set(credentials.map(({ id }) => id)).size).toBe(credentials.length);
    }
  });

  test("leaves out what is revoked or expired", async () => {
    const orgId = await newOrganization(control);
    const { created } = await control.client.createApiKey({ orgId }, control.operator);
    await control.client.revokeApiKey({ orgId, keyId: created!.key!.id }, control.operator);
    const expiresAt = new Date(Date.now() + 86_400_000).toISOString();
    const short = await control.client.createApiKey({ orgId, expiresAt }, control.operator);
    await control.ownerDb.rows(testSql("UPDATE control.api_keys SET expires_at = now() WHERE id = $1"), [
      short.created!.key!.id,
    ]);
    const { credentials } = await readProjection(control);
    expect(credentials.filter((entry) => entry.orgId === orgId)).toEqual([]);
  });

  test("that changes while it is paged still shows the change afterwards", async () => {
    const orgId = await newOrganization(control);
    const key = await control.client.createApiKey({ orgId }, control.operator);
    const first = await control.client.getProjection({ limit: 1 }, control.anyone);
    await control.client.revokeApiKey({ orgId, keyId: key.created!.key!.id }, control.operator);
    const rest = await readProjection(control, first.cursor, 3);
    const after = await readProjection(control, rest.cursor);
    const entries = [...rest.credentials, ...after.credentials].filter(({ id }) => id === idOf(key.created!.plaintext));
    expect(entries.at(-1)?.revoked).toBe(true);
  });
});

describe("a poll", () => {
  test("returns nothing of an organization that did not change", async () => {
    const orgId = await newOrganization(control);
    await newKey(control, orgId);
    const cursor = await restingCursor(control);
    const again = await readProjection(control, cursor);
    expect(again.fromStart).toBe(false);
    expect([...again.organizations, ...again.credentials]).toEqual([]);
  });

  test("never misses a commit, whichever of two transactions ends first", async () => {
    const orgId = await newOrganization(control);
    const [early, late] = await Promise.all([
      control.client.createApiKey({ orgId }, control.operator),
      control.client.createApiKey({ orgId }, control.operator),
    ]);
    const start = await restingCursor(control);
    const revoke = (made: typeof early) => (tx: Tx) => revokeApiKeyRow(tx, orgId, made.created!.key!.id, control.now());

    // The one that began first, and so has the lower number, commits last.
    const slow = openTransaction(orgId, revoke(early));
    await slow.worked;
    const fast = openTransaction(orgId, revoke(late));
    await fast.worked;
    await fast.commit();
    const between = await readProjection(control, start);
    expect(between.credentials.map(({ id }) => id)).toEqual([idOf(late.created!.plaintext)]);
    await slow.commit();
    const after = await readProjection(control, between.cursor);
    expect(after.credentials.filter(({ revoked }) => revoked).map(({ id }) => id)).toContain(
      idOf(early.created!.plaintext),
    );
  });

  test("never misses a commit that falls between two of its pages", async () => {
    const orgId = await newOrganization(control);
    const made = await control.client.createApiKey({ orgId }, control.operator);
    const start = await restingCursor(control);
    const slow = openTransaction(orgId, (tx) => revokeApiKeyRow(tx, orgId, made.created!.key!.id, control.now()));
    await slow.worked;
    await Promise.all([newKey(control, orgId), newKey(control, orgId), newKey(control, orgId)]);
    const first = await control.client.getProjection({ cursor: start, limit: 1 }, control.anyone);
    expect(first.more).toBe(true);
    await slow.commit();
    const rest = await readProjection(control, first.cursor, 1);
    const after = await readProjection(control, rest.cursor);
    const seen = [...first.credentials, ...rest.credentials, ...after.credentials];
    expect(seen.find(({ id }) => id === idOf(made.created!.plaintext))?.revoked).toBe(true);
  });

  test.each([
    ["an empty cursor", ""],
    ["a cursor of another version", "v0.7"],
    ["a cursor ahead of the server, which was restored", "v1.18446744073709551615"],
  ])("with %s starts over", async (_, cursor) => {
    await newOrganization(control);
    const page = await control.client.getProjection({ cursor }, control.anyone);
    expect(page.fromStart).toBe(true);
    expect(page.organizations.length).toBeGreaterThan(0);
  });
});

describe("the entries of a change", () => {
  async function changesAfter(orgId: string, change: () => Promise<unknown>) {
    const cursor = await restingCursor(control);
    await change();
    const { organizations, credentials } = await readProjection(control, cursor);
    return {
      organization: organizations.find(({ id }) => id === orgId),
      credentials: credentials.filter((entry) => entry.orgId === orgId),
    };
  }

  test("a new key has everything that a gateway checks", async () => {
    const orgId = await newOrganization(control);
    const expiresAt = new Date(Date.now() + 60_000).toISOString();
    let text = "";
    const { credentials } = await changesAfter(orgId, async () => {
      const wish = { orgId, scopes: ["usage:read", "export:read"], expiresAt };
      text = (await control.client.createApiKey(wish, control.operator)).created!.plaintext;
    });
    expect(credentials).toHaveLength(1);
    const [entry] = credentials;
    expect(entry).toMatchObject({
      kind: CredentialKind.API_KEY,
      id: idOf(text),
      orgId,
      scopes: ["export:read", "usage:read"],
      projectId: "",
      userId: "",
      role: "",
      revoked: false,
    });
    expect(Buffer.from(entry!.hash)).toEqual(Buffer.from(parseCredential(text)!.hash));
    expect(Date.parse(entry!.expiresAt)).toBe(Date.parse(expiresAt));
  });

  test.each([["member", 5]] as const)("a session of role %s has the %d scopes of the role", async (role, count) => {
    const orgId = await newOrganization(control);
    let userId = "";
    const { credentials } = await changesAfter(orgId, async () => {
      ({ userId } = await newMember(control, orgId, role));
    });
    expect(credentials.at(-1)).toMatchObject({ kind: CredentialKind.SESSION, userId, role, revoked: false });
    expect(credentials.at(-1)!.scopes).toHaveLength(count);
  });

  test("a plan or billing change is sent as the organization", async () => {
    const orgId = await newOrganization(control);
    const { organization } = await changesAfter(orgId, () => bill(control, orgId, "past_due_grace"));
    expect(organization).toMatchObject({ planTier: "premium", billingState: "past_due_grace", deleted: false });
  });

  test("a disabled service account is sent as its revoked key", async () => {
    const orgId = await newOrganization(control);
    const { created } = await control.client.createApiKey({ orgId }, control.operator);
    const { credentials } = await changesAfter(orgId, () =>
      control.client.disableServiceAccount({ orgId, serviceAccountId: created!.serviceAccount!.id }, control.operator),
    );
    expect(credentials.map(({ revoked }) => revoked)).toEqual([true]);
  });

  test("a member's new role is sent as their live sessions", async () => {
    const orgId = await newOrganization(control);
    const { userId, token } = await newMember(control, orgId, "member");
    const { credentials } = await changesAfter(orgId, () =>
      control.db.withTenant(orgId, (tx) => updateMembership(tx, { orgId, userId, role: "viewer", status: "active" })),
    );
    expect(credentials).toEqual([
      expect.objectContaining({ id: idOf(token), role: "viewer", scopes: ["export:read"] }),
    ]);
  });

  test("a former member is sent as revoked sessions", async () => {
    const orgId = await newOrganization(control);
    const { userId } = await newMember(control, orgId, "member");
    const { credentials } = await changesAfter(orgId, () =>
      control.db.withTenant(orgId, (tx) => updateMembership(tx, { orgId, userId, role: "member", status: "invited" })),
    );
    expect(credentials.map(({ revoked }) => revoked)).toEqual([true]);
  });

  test("signing out is sent as a revoked session", async () => {
    const orgId = await newOrganization(control);
    const { token } = await newMember(control, orgId, "member");
    const { credentials } = await changesAfter(orgId, () => control.client.signOut({ token }, control.anyone));
    expect(credentials.map(({ revoked }) => revoked)).toEqual([true]);
  });

  test("every change leaves a wake-up for the bus in its transaction, and the relay is woken", async () => {
    const orgId = await newOrganization(control);
    const count = testSql("SELECT subject, octet_length(payload) AS bytes FROM platform.outbox WHERE org_id = $1");
    const before = (await control.ownerDb.rows(count, [orgId])).length;
    const wakeUps = control.wakeUps();
    await newKey(control, orgId);
    const messages = await control.ownerDb.rows<{ subject: string; bytes: number }>(count, [orgId]);
    expect(messages).toHaveLength(before + 1);
    expect(messages.at(-1)).toEqual({ subject: projectionChangedSubject, bytes: 0 });
    expect(control.wakeUps()).toBe(wakeUps + 1);
  });
});
