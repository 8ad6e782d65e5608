import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { newKey, newOrganization, startControl, type Control } from "../control.fixture.ts";

let control: Control;
beforeAll(async () => {
  control = await startControl();
});
afterAll(() => control.close());

const ensure = async (knownKey = "") => control.client.ensureLocalAccess({ knownKey }, control.operator);

describe("the access of an installation on a personal machine", () => {
  test("is an organization of a known id, its owner, and a key that is shown once", async () => {
    const { organization, user, newKey: created } = await ensure();
    expect(organization).toMatchObject({
      id: "00000000-0000-0000-0000-000000000001",
      slug: "local",
      planTier: "premium",
    });
    expect(created!.key).toMatchObject({
      orgId: organization!.id,
      scopes: ["sdk:ingest", "export:read", "runs:control"],
    });
    expect((await control.as(created!.plaintext)).identity).toMatchObject({ orgId: organization!.id });
    const { seats } = await control.client.listSeats({ orgId: organization!.id }, control.operator);
    expect(seats.map((seat) => [seat.user!.id, seat.membership!.role])).toEqual([[user!.id, "owner"]]);
  });

  test("stays as it is while the kept key works", async () => {
    const { newKey: created, organization, user } = await ensure();
    const again = await ensure(created!.plaintext);
    expect(again).toMatchObject({ organization, user });
    expect(again.newKey).toBeUndefined();
  });

  test("gets a new key when the kept one is lost, revoked, or another organization's", async () => {
    const { newKey: kept, organization } = await ensure();
    const orgId = organization!.id;
    await control.client.revokeApiKey({ orgId, keyId: kept!.key!.id }, control.operator);
    const foreign = await newKey(control, await newOrganization(control));
    for (const known of ["", "rubbish", kept!.plaintext, foreign]) {
      expect((await ensure(known)).newKey?.plaintext).toMatch(/^tm_/);
    }
  });

  test("is created once when several processes ask simultaneously", async () => {
    const fresh = await startControl();
    try {
      const answers = await Promise.all(
        Array.from({ length: 4 }, () => fresh.client.ensureLocalAccess({}, fresh.operator)),
      );
      expect(new Set(answers.map(({ user }) => user!.id)).size).toBe(1);
      expect((await fresh.client.listOrganizations({}, fresh.operator)).organizations).toHaveLength(1);
    } finally {
      await fresh.close();
    }
  });

  test("takes another short name where the usual one is taken", async () => {
    const busy = await startControl();
    try {
      await busy.client.createOrganization({ slug: "local" }, busy.operator);
      const { organization } = await busy.client.ensureLocalAccess({}, busy.operator);
      expect(organization!.slug).toMatch(/^local-/);
    } finally {
      await busy.close();
    }
  });
});
