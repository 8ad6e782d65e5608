import { testSql } from "@tidemark/testkit";
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { parseCredential } from "@tidemark/credentials";
import { updateMembership } from "../organizations/memberships.sql.ts";

import {
  expectRefusal,
  newKey,
  newMember,
  newOrganization,
  refusal,
  startControl,
  type Control,
} from "../control.fixture.ts";

let control: Control;
beforeAll(async () => {
  control = await startControl();
});
afterAll(() => control.close());

async function newProject(orgId: string, name: string): Promise<string> {
  const id = randomUUID();
  const insert = testSql("INSERT INTO runs.projects (org_id, id, name) VALUES ($1, $2, $3)");
  await control.ownerDb.rows(insert, [orgId, id, name]);
  return id;
}

describe("a new key", () => {
  test("may ingest and read by default, and has its own service account", async () => {
    const orgId = await newOrganization(control);
    const { created } = await control.client.createApiKey({ orgId }, control.operator);
    const { plaintext, key, serviceAccount } = created!;
    expect(parseCredential(plaintext)?.kind).toBe("api_key");
    expect(key).toMatchObject({
      orgId,
      name: "SDK API key",
      keyPrefix: plaintext.slice(0, 14),
      scopes: ["sdk:ingest", "export:read"],
      projectId: "",
      expiresAt: "",
      lastUsedAt: "",
      revokedAt: "",
      serviceAccountId: serviceAccount!.id,
    });
    expect(serviceAccount).toMatchObject({ orgId, name: "SDK API key", createdByUserId: "", disabledAt: "" });
  });

  test("is refused when an organization has 1,000 that work; revoked and expired ones leave room", async () => {
    const orgId = await newOrganization(control);
    const fill = testSql(`WITH account AS (
         INSERT INTO control.service_accounts (org_id, id, name) VALUES ($1, gen_random_uuid(), 'many') RETURNING id
       )
       INSERT INTO control.api_keys (org_id, id, service_account_id, credential_id, hash, key_prefix, name, scopes, revoked_at, expires_at)
       SELECT $1, gen_random_uuid(), a.id, gen_random_uuid()::text, decode(repeat('00', 32), 'hex'), 'tm_', 'k', '{sdk:ingest}',
              CASE WHEN n > 998 AND n <= 1100 THEN now() END, CASE WHEN n > 1100 THEN now() - interval '1 day' END
       FROM account a, generate_series(1, 1200) n`);
    await control.ownerDb.rows(fill, [orgId]);
    const make = () => control.client.createApiKey({ orgId }, control.operator);
    const outcomes = await Promise.allSettled(Array.from({ length: 6 }, make));
    expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(2);
    expect(await refusal(make())).toMatchObject({ reason: "bad_request" });
    const { created } = (
      outcomes.find(({ status }) => status === "fulfilled") as PromiseFulfilledResult<Awaited<ReturnType<typeof make>>>
    ).value;
    await control.client.revokeApiKey({ orgId, keyId: created!.key!.id }, control.operator);
    await make();
  });

  test("is in the database as a hash only", async () => {
    const orgId = await newOrganization(control);
    const text = await newKey(control, orgId);
    const secret = text.split("_")[2]!;
    const find = testSql(
      "SELECT count(*) AS found FROM control.api_keys k WHERE k::text LIKE '%' || $1 || '%' OR encode(k.hash, 'escape') LIKE '%' || $1 || '%'",
    );
    expect(await control.ownerDb.one(find, [secret])).toEqual({ found: 0 });
  });

  test("may be bound to a project by its id or by its name", async () => {
    const orgId = await newOrganization(control);
    const projectId = await newProject(orgId, "demo");
    for (const wish of [{ projectId }, { project: "demo" }, { projectId, project: "demo" }]) {
      const { created } = await control.client.createApiKey({ orgId, ...wish }, control.operator);
      expect(created!.key!.projectId).toBe(projectId);
    }
  });

  test("is refused for a project that does not exist, or is another organization's", async () => {
    const [orgId, other] = [await newOrganization(control), await newOrganization(control)];
    const foreign = await newProject(other, "theirs");
    for (const wish of [
      { projectId: randomUUID() },
      { project: "none" },
      { projectId: foreign },
      { project: "theirs" },
    ]) {
      await expectRefusal(control.client.createApiKey({ orgId, ...wish }, control.operator), "not_found");
    }
  });

  test("is refused when id and name are of different projects", async () => {
    const orgId = await newOrganization(control);
    const projectId = await newProject(orgId, "one");
    await newProject(orgId, "two");
    const wish = { orgId, projectId, project: "two" };
    expect(await refusal(control.client.createApiKey(wish, control.operator))).toMatchObject({
      reason: "bad_request",
      field: "project",
    });
  });

  test.each([["an end that has passed", { expiresAt: "2020-01-01T00:00:00Z" }, "expires_at"]])(
    "is refused with %s",
    async (_, wish, field) => {
      const orgId = await newOrganization(control);
      expect(await refusal(control.client.createApiKey({ orgId, ...wish }, control.operator))).toMatchObject({
        reason: "bad_request",
        field,
      });
    },
  );

  test("has the maker that the operator names, unless there is no such user", async () => {
    const orgId = await newOrganization(control);
    const { user } = await control.client.createUser({ email: "maker@example.org" }, control.operator);
    const wish = { orgId, createdByUserId: user!.id };
    const { created } = await control.client.createApiKey(wish, control.operator);
    expect(created!.serviceAccount!.createdByUserId).toBe(user!.id);
    await expectRefusal(
      control.client.createApiKey({ orgId, createdByUserId: randomUUID() }, control.operator),
      "not_found",
    );
  });
});

describe("who may manage keys", () => {
  test.each(["owner", "admin"] as const)("a session of role %s may, and is noted as the maker", async (role) => {
    const orgId = await newOrganization(control);
    const { call, userId } = await newMember(control, orgId, role);
    const { created } = await control.client.createApiKey({ orgId, createdByUserId: randomUUID() }, call);
    expect(created!.serviceAccount!.createdByUserId).toBe(userId);
  });

  test("lists name the creator of a key, also through another key, so that keys of former members can be found and revoked", async () => {
    const orgId = await newOrganization(control);
    const { call, userId } = await newMember(control, orgId, "admin");
    const scopes = ["api_keys:write", "export:read"];
    const { created } = await control.client.createApiKey({ orgId, name: "made", scopes }, call);
    const asKey = await control.as(created!.plaintext);
    const through = await control.client.createApiKey({ orgId, name: "through", scopes: ["export:read"] }, asKey);
    await control.client.createApiKey({ orgId, name: "operator" }, control.operator);
    expect(through.created!.key!.createdByUserId).toBe(userId);
    const { keys } = await control.client.listApiKeys({ orgId }, control.operator);
    expect(Object.fromEntries(keys.map((key) => [key.name, key.createdByUserId]))).toEqual({
      made: userId,
      through: userId,
      operator: "",
    });
    for (const { id, createdByUserId } of keys.filter((key) => key.createdByUserId === userId)) {
      const { key } = await control.client.revokeApiKey({ orgId, keyId: id }, control.operator);
      expect(key).toMatchObject({ createdByUserId, revokedAt: expect.stringContaining("Z") });
    }
    await expectRefusal(control.client.createApiKey({ orgId, scopes: ["export:read"] }, asKey), "unauthenticated");
  });

  test.each(["member", "viewer"] as const)("a session of role %s may not", async (role) => {
    const orgId = await newOrganization(control);
    const { call } = await newMember(control, orgId, role);
    await expectRefusal(control.client.createApiKey({ orgId }, call), "forbidden");
    await expectRefusal(control.client.listApiKeys({ orgId }, call), "forbidden");
  });

  test("a key may with api_keys:write, and grants only what it holds itself", async () => {
    const orgId = await newOrganization(control);
    const call = await control.as(await newKey(control, orgId, ["api_keys:write", "export:read"]));
    const wish = { orgId, scopes: ["export:read"] };
    expect((await control.client.createApiKey(wish, call)).created!.key!.scopes).toEqual(["export:read"]);
    await expectRefusal(control.client.createApiKey({ orgId, scopes: ["runs:control"] }, call), "forbidden");
    await expectRefusal(control.client.createApiKey({ orgId }, call), "forbidden");
  });

  test("a key that was revoked after the gateway had looked may not, nor one that ended", async () => {
    const orgId = await newOrganization(control);
    const make = (more = {}) =>
      control.client.createApiKey({ orgId, scopes: ["api_keys:write", "export:read"], ...more }, control.operator);
    const { created } = await make();
    const call = await control.as(created!.plaintext);
    await control.client.revokeApiKey({ orgId, keyId: created!.key!.id }, control.operator);
    await expectRefusal(control.client.createApiKey({ orgId, scopes: ["export:read"] }, call), "unauthenticated");
    const soon = new Date(control.now().getTime() + 60_000).toISOString();
    const ending = await control.as((await make({ expiresAt: soon })).created!.plaintext);
    control.pass({ minutes: 2 });
    await expectRefusal(control.client.createApiKey({ orgId, scopes: ["export:read"] }, ending), "unauthenticated");
  });

  test("a revocation and a new key do not pass each other: the second one waits", async () => {
    const orgId = await newOrganization(control);
    const wish = { orgId, scopes: ["api_keys:write", "export:read"] };
    for (let round = 0; round < 10; round += 1) {
      const { created } = await control.client.createApiKey(wish, control.operator);
      const call = await control.as(created!.plaintext);
      const revoke = testSql(
        "UPDATE control.api_keys SET revoked_at = now(), changed_xid = pg_current_xact_id() WHERE org_id = $1 AND id = $2",
      );
      const hold = testSql("SELECT pg_sleep(0.05)");
      // The revocation has changed the row and not committed yet when the key is requested.
      let begun = (): void => undefined;
      const isBegun = new Promise<void>((resolve) => (begun = resolve));
      const revoking = control.db.withTenant(orgId, async (tx) => {
        await tx.rows(revoke, [orgId, created!.key!.id]);
        begun();
        await tx.rows(hold, []);
      });
      await isBegun;
      await expectRefusal(control.client.createApiKey({ orgId, scopes: ["export:read"] }, call), "unauthenticated");
      await revoking;
    }
  });

  test("a session whose member was demoted after the gateway had looked may not", async () => {
    const orgId = await newOrganization(control);
    const { call, userId } = await newMember(control, orgId, "admin");
    await control.db.withTenant(orgId, (tx) =>
      updateMembership(tx, { orgId, userId, role: "viewer", status: "active" }),
    );
    await expectRefusal(control.client.createApiKey({ orgId, scopes: ["export:read"] }, call), "forbidden");
  });

  test("a key that ends makes keys that end with it, and none that end later", async () => {
    const orgId = await newOrganization(control);
    const inHours = (hours: number) => new Date(control.now().getTime() + hours * 3_600_000).toISOString();
    const expiresAt = inHours(2);
    const wish = { orgId, scopes: ["api_keys:write", "export:read"] };
    const { created } = await control.client.createApiKey({ ...wish, expiresAt }, control.operator);
    const call = await control.as(created!.plaintext);
    const endOf = async (more: object) => {
      const made = await control.client.createApiKey({ orgId, scopes: ["export:read"], ...more }, call);
      return new Date(made.created!.key!.expiresAt).toISOString();
    };
    const earlier = inHours(1);
    expect([await endOf({}), await endOf({ expiresAt }), await endOf({ expiresAt: earlier })]).toEqual([
      expiresAt,
      expiresAt,
      earlier,
    ]);
    const later = control.client.createApiKey({ orgId, scopes: ["export:read"], expiresAt: inHours(3) }, call);
    expect(await refusal(later)).toMatchObject({ reason: "bad_request", field: "expires_at" });
  });

  test("a key without api_keys:write may not, regardless of its other scopes", async () => {
    const orgId = await newOrganization(control);
    const call = await control.as(await newKey(control, orgId, ["sdk:ingest", "export:read", "artifacts:manage"]));
    expect(await refusal(control.client.createApiKey({ orgId }, call))).toMatchObject({
      reason: "forbidden",
      message: "api key requires api_keys:write",
    });
  });

  test("a key that is bound to a project may not, not even for its project", async () => {
    const orgId = await newOrganization(control);
    const projectId = await newProject(orgId, "demo");
    const scopes = ["api_keys:write", "sdk:ingest", "export:read"];
    const { created } = await control.client.createApiKey({ orgId, scopes, projectId }, control.operator);
    const call = await control.as(created!.plaintext);
    await expectRefusal(control.client.createApiKey({ orgId, projectId }, call), "forbidden");
    await expectRefusal(control.client.revokeApiKey({ orgId, keyId: created!.key!.id }, call), "forbidden");
  });

  test("other organizations cannot see that a key exists", async () => {
    const [own, other] = [await newOrganization(control), await newOrganization(control)];
    const { created } = await control.client.createApiKey({ orgId: other }, control.operator);
    const keyId = created!.key!.id;
    const serviceAccountId = created!.serviceAccount!.id;
    const key = await control.as(await newKey(control, own, ["api_keys:write"]));
    const { call: owner } = await newMember(control, own, "owner");
    for (const call of [key, owner]) {
      await expectRefusal(control.client.createApiKey({ orgId: other }, call), "not_found");
      await expectRefusal(control.client.listApiKeys({ orgId: other }, call), "not_found");
      await expectRefusal(control.client.revokeApiKey({ orgId: other, keyId }, call), "not_found");
      await expectRefusal(control.client.revokeApiKey({ orgId: own, keyId }, call), "not_found");
      await expectRefusal(control.client.disableServiceAccount({ orgId: other, serviceAccountId }, call), "not_found");
      await expectRefusal(control.client.disableServiceAccount({ orgId: own, serviceAccountId }, call), "not_found");
    }
  });
});

describe("the list of keys", () => {
  test("has revoked ones too, newest first, page by page", async () => {
    const orgId = await newOrganization(control);
    const made = [];
    for (const name of ["first", "second", "third"]) {
      made.push((await control.client.createApiKey({ orgId, name }, control.operator)).created!.key!.id);
      control.pass({ seconds: 1 });
    }
    await control.client.revokeApiKey({ orgId, keyId: made[0]! }, control.operator);
    const { keys } = await control.client.listApiKeys({ orgId }, control.operator);
    expect(keys.map(({ name }) => name)).toEqual(["third", "second", "first"]);
    expect(keys.map(({ revokedAt }) => revokedAt !== "")).toEqual([false, false, true]);
    const page = { limit: 1, offset: 1n };
    const second = await control.client.listApiKeys({ orgId, page }, control.operator);
    expect(second.keys.map(({ name }) => name)).toEqual(["second"]);
  });

  test("of an organization that does not exist is not found", async () => {
    await expectRefusal(control.client.listApiKeys({ orgId: randomUUID() }, control.operator), "not_found");
  });
});

describe("the end of a key", () => {
  test("is caused by revoking it, once: repeating changes nothing", async () => {
    const orgId = await newOrganization(control);
    const { created } = await control.client.createApiKey({ orgId }, control.operator);
    const wish = { orgId, keyId: created!.key!.id };
    const first = await control.client.revokeApiKey(wish, control.operator);
    control.pass({ minutes: 1 });
    const second = await control.client.revokeApiKey(wish, control.operator);
    expect(first.key!.revokedAt).not.toBe("");
    expect(second.key).toEqual(first.key);
    await expect(control.as(created!.plaintext)).rejects.toThrow("revoked");
  });

  test("is caused by disabling its service account, once: repeating changes nothing", async () => {
    const orgId = await newOrganization(control);
    const { created } = await control.client.createApiKey({ orgId }, control.operator);
    const wish = { orgId, serviceAccountId: created!.serviceAccount!.id };
    const first = await control.client.disableServiceAccount(wish, control.operator);
    control.pass({ minutes: 1 });
    const second = await control.client.disableServiceAccount(wish, control.operator);
    expect(first.serviceAccount!.disabledAt).not.toBe("");
    expect(second.serviceAccount).toEqual(first.serviceAccount);
    await expect(control.as(created!.plaintext)).rejects.toThrow("revoked");
  });

  test("is open to a key that may manage keys, its own included", async () => {
    const orgId = await newOrganization(control);
    const { created } = await control.client.createApiKey({ orgId, scopes: ["api_keys:write"] }, control.operator);
    const call = await control.as(created!.plaintext);
    const { key } = await control.client.revokeApiKey({ orgId, keyId: created!.key!.id }, call);
    expect(key!.revokedAt).not.toBe("");
  });

  test.each([
    ["no id", "key"],
    ["an id of nothing", "3f0c7e9a-0000-4000-8000-000000000000"],
  ])("of %s is not found", async (_, id) => {
    const orgId = await newOrganization(control);
    await expectRefusal(control.client.revokeApiKey({ orgId, keyId: id }, control.operator), "not_found");
    await expectRefusal(
      control.client.disableServiceAccount({ orgId, serviceAccountId: id }, control.operator),
      "not_found",
    );
  });
});
