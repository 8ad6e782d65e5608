import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import {
  callOf,
  GRACE_DAYS,
  startArtifacts,
  storageOf,
  type ArtifactsFixture,
  type Tenant,
  type TestCollection,
} from "../artifacts.fixture.ts";

let fixture: ArtifactsFixture;
let tenant: Tenant;
let collection: TestCollection;

beforeAll(async () => {
  fixture = await startArtifacts();
});
afterAll(() => fixture.close());
beforeEach(async () => {
  tenant = await fixture.newTenant();
  collection = await fixture.newCollection(tenant);
});

const remove = async (versionId: string, fields: object = {}) => {
  const request = { versionId, confirm: versionId, reason: "too old", ...fields };
  return (await fixture.client.deleteVersion(request, callOf(tenant))).version!;
};
const retain = async (versionId: string, fields: object = {}) => {
  const request = { versionId, confirm: versionId, reason: "audit", ...fields };
  return (await fixture.client.setRetention(request, callOf(tenant))).version!;
};
const counters = async () =>
  (await fixture.client.getCollection({ collectionId: collection.id }, callOf(tenant))).collection!;
const consistent = async () => {
  const { counters: kept, counted } = await storageOf(fixture, tenant);
  expect(kept).toEqual(counted);
};

describe("a deletion", () => {
  test("makes the version unavailable and keeps its bytes for the grace period", async () => {
    const { id } = await fixture.storeVersion(tenant, collection, { files: [{ path: "a", content: "1234" }] });
    const deleted = await remove(id);
    expect(deleted).toMatchObject({ id, state: "soft_deleted", auditReason: "too old", aliases: [] });
    expect(deleted.deleteRequestedAt).toBe(deleted.deletedAt);
    const rows = await fixture.ask<{ days: number }>(
      "SELECT extract(day FROM purge_after - deleted_at)::integer AS days FROM artifacts.versions WHERE id = $1",
      id,
    );
    expect(rows).toEqual([{ days: GRACE_DAYS }]);
    expect(await counters()).toMatchObject({ versionsCount: 0, retainedBytes: 0n, pendingDeleteBytes: 4n });
    expect(await fixture.client.getStorage({}, callOf(tenant))).toMatchObject({
      activeBytes: 0n,
      pendingDeleteBytes: 4n,
      versionsActive: 0n,
      versionsPendingDelete: 1n,
    });
    await consistent();
  });

  test("that is repeated answers the same and changes nothing", async () => {
    const { id } = await fixture.storeVersion(tenant, collection);
    const first = await remove(id);
    expect(await remove(id, { reason: "again" })).toEqual(first);
    await consistent();
  });

  test("is refused while aliases point at the version, unless they go with it", async () => {
    const { id } = await fixture.storeVersion(tenant, collection, { aliases: ["best"] });
    await expect(remove(id)).rejects.toMatchObject({ reason: "conflict" });
    expect((await fixture.client.getVersion({ versionId: id }, callOf(tenant))).version!.state).toBe("active");
    expect(await remove(id, { deleteAliases: true })).toMatchObject({ state: "soft_deleted", aliases: [] });
    expect(await fixture.ask("SELECT 1 FROM artifacts.aliases WHERE version_id = $1", id)).toEqual([]);
  });

  test("works on a version that is past its end", async () => {
    const made = await fixture.storeVersion(tenant, collection);
    await fixture.expire(made);
    expect((await remove(made.id)).state).toBe("soft_deleted");
    await consistent();
  });

  test.each([
    ["another id as confirmation", { confirm: randomUUID() }, "confirm"],
    ["a fault that the gateway found", { bodyFault: { text: "no", field: "delete_aliases" } }, "delete_aliases"],
  ])("with %s is 400, also when aliases are in its way", async (_what, fields, field) => {
    const { id } = await fixture.storeVersion(tenant, collection, { aliases: ["best"] });
    await expect(remove(id, fields)).rejects.toMatchObject({ reason: "bad_request", field });
  });

  test("takes the id and its confirmation in upper case too", async () => {
    const { id } = await fixture.storeVersion(tenant, collection);
    expect((await remove(id.toUpperCase())).state).toBe("soft_deleted");
  });

  test("by several callers happens once", async () => {
    const { id } = await fixture.storeVersion(tenant, collection, { aliases: ["best"] });
    const answers = await Promise.all(Array.from({ length: 8 }, () => remove(id, { deleteAliases: true })));
    expect(new Set(answers.map(({ deletedAt }) => deletedAt)).size).toBe(1);
    expect(await counters()).toMatchObject({ versionsCount: 0 });
    await consistent();
  });

  test("and an alias that is moved to the version meanwhile exclude each other", async () => {
    for (let round = 0; round < 10; round += 1) {
      const { id } = await fixture.storeVersion(tenant, collection);
      const alias = { alias: "best", confirm: "best", reason: "r" };
      const [deleted, moved] = await Promise.allSettled([
        remove(id),
        fixture.client.setAlias({ collectionId: collection.id, versionId: id, ...alias }, callOf(tenant)),
      ]);
      if (deleted.status === "fulfilled") {
        expect(moved).toMatchObject({ status: "rejected", reason: { reason: "not_found" } });
      } else {
        expect(deleted.reason).toMatchObject({ reason: "conflict" });
        expect(moved.status).toBe("fulfilled");
      }
    }
    await consistent();
  });
});

describe("retention", () => {
  test("counts the days from the creation", async () => {
    const { id } = await fixture.storeVersion(tenant, collection);
    const version = await retain(id, { retentionMode: "days", ttlDays: 30 });
    expect(version).toMatchObject({ retentionMode: "days", ttlDays: 30, auditReason: "audit", state: "active" });
    expect(Date.parse(version.expiresAt!) - Date.parse(version.createdAt)).toBe(30 * 86_400_000);
  });

  test.each([
    [undefined, "inherit"],
    ["keep_forever", "keep_forever"],
    ["none", "none"],
  ])("%s has no end", async (retentionMode, shown) => {
    const { id } = await fixture.storeVersion(tenant, collection, { ttlDays: 1 });
    const version = await retain(id, { retentionMode });
    expect(version.retentionMode).toBe(shown);
    expect([version.ttlDays, version.expiresAt]).toEqual([undefined, undefined]);
  });

  test("in the past hides the version immediately, and a later end shows it again", async () => {
    const { id } = await fixture.storeVersion(tenant, collection, { files: [{ path: "a", content: "1234" }] });
    await fixture.ask("UPDATE artifacts.versions SET created_at = now() - interval '5 days' WHERE id = $1", id);
    await retain(id, { retentionMode: "days", ttlDays: 5 });
    const get = () => fixture.client.getVersion({ versionId: id }, callOf(tenant));
    await expect(get()).rejects.toMatchObject({ reason: "gone" });
    expect(await counters()).toMatchObject({ versionsCount: 0, retainedBytes: 0n, pendingDeleteBytes: 4n });
    expect(await fixture.client.getStorage({}, callOf(tenant))).toMatchObject({
      activeBytes: 0n,
      pendingDeleteBytes: 4n,
      versionsActive: 0n,
      versionsPendingDelete: 1n,
    });
    await retain(id, { retentionMode: "days", ttlDays: 6 });
    expect((await get()).version!.aliases).toEqual(["latest"]);
    expect(await counters()).toMatchObject({ versionsCount: 1, retainedBytes: 4n, pendingDeleteBytes: 0n });
  });

  test("of a deleted version changes and leaves it deleted", async () => {
    const { id } = await fixture.storeVersion(tenant, collection, { ttlDays: 1 });
    await remove(id);
    expect(await retain(id, { retentionMode: "keep_forever" })).toMatchObject({
      state: "soft_deleted",
      retentionMode: "keep_forever",
      auditReason: "audit",
    });
    await consistent();
  });

  test.each([
    ["too many days", { retentionMode: "days", ttlDays: 3651 }, "ttl_days"],
    ["another id as confirmation", { confirm: randomUUID() }, "confirm"],
    ["a fault that the gateway found", { bodyFault: { text: "no", field: "ttl_days" } }, "ttl_days"],
  ])("with %s is 400", async (_what, fields, field) => {
    const { id } = await fixture.storeVersion(tenant, collection);
    await expect(retain(id, fields)).rejects.toMatchObject({ reason: "bad_request", field });
  });
});
