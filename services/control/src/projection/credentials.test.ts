import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { parseCredential } from "@tidemark/credentials";
import { CredentialKind } from "@tidemark/proto/control/v1/control";
import { newKey, newMember, newOrganization, startControl, type Control } from "../control.fixture.ts";
import { readProjection, restingCursor } from "./projection.fixture.ts";

let control: Control;
beforeAll(async () => {
  control = await startControl();
});
afterAll(() => control.close());

const idOf = (text: string): string => parseCredential(text)!.id;

describe("a look-up", () => {
  test("finds a key or a session by its id, with its organization", async () => {
    const orgId = await newOrganization(control, "pro");
    const key = await newKey(control, orgId);
    const { token } = await newMember(control, orgId, "viewer");
    for (const [kind, text] of [
      [CredentialKind.API_KEY, key],
      [CredentialKind.SESSION, token],
    ] as const) {
      const found = await control.client.lookupCredential({ kind, id: idOf(text) }, control.anyone);
      expect(found.entry).toMatchObject({ kind, id: idOf(text), orgId });
      expect(found.organization).toMatchObject({ id: orgId, planTier: "pro", billingState: "paid_active" });
    }
  });

  test("of what does not exist, or exists as another kind, is empty", async () => {
    const orgId = await newOrganization(control);
    const id = idOf(await newKey(control, orgId));
    expect(await control.client.lookupCredential({ kind: CredentialKind.SESSION, id }, control.anyone)).toEqual(
      expect.not.objectContaining({ entry: expect.anything() }),
    );
    const none = await control.client.lookupCredential({ kind: CredentialKind.API_KEY, id: "x" }, control.anyone);
    expect(none.entry).toBeUndefined();
  });

  test("shows that a credential was revoked", async () => {
    const orgId = await newOrganization(control);
    const { created } = await control.client.createApiKey({ orgId }, control.operator);
    await control.client.revokeApiKey({ orgId, keyId: created!.key!.id }, control.operator);
    const id = idOf(created!.plaintext);
    const { entry } = await control.client.lookupCredential({ kind: CredentialKind.API_KEY, id }, control.anyone);
    expect(entry?.revoked).toBe(true);
  });
});

describe("reported uses", () => {
  test("show as times of last use, and an older report changes nothing", async () => {
    const orgId = await newOrganization(control);
    const key = await newKey(control, orgId);
    const { token } = await newMember(control, orgId, "member");
    const report = (usedAt: string) =>
      control.client.recordCredentialUse(
        {
          uses: [
            { kind: CredentialKind.API_KEY, id: idOf(key), orgId, usedAt },
            { kind: CredentialKind.SESSION, id: idOf(token), orgId, usedAt },
            { kind: CredentialKind.API_KEY, id: "nobody", orgId, usedAt },
          ],
        },
        control.anyone,
      );
    await report("2090-01-02T03:04:05Z");
    await report("2089-01-01T00:00:00Z");
    const { keys } = await control.client.listApiKeys({ orgId }, control.operator);
    expect(keys[0]!.lastUsedAt).toBe("2090-01-02T03:04:05Z");
    const { view } = await control.client.getSession({ token }, control.anyone);
    expect(view!.session!.lastSeenAt).toBe("2090-01-02T03:04:05Z");
    expect(view!.user!.lastSeenAt).toBe("2090-01-02T03:04:05Z");
  });

  test("are not a change that gateways are told of", async () => {
    const orgId = await newOrganization(control);
    const id = idOf(await newKey(control, orgId));
    const cursor = await restingCursor(control);
    const usedAt = new Date().toISOString();
    await control.client.recordCredentialUse(
      { uses: [{ kind: CredentialKind.API_KEY, id, orgId, usedAt }] },
      control.anyone,
    );
    expect((await readProjection(control, cursor)).credentials).toEqual([]);
  });
});
