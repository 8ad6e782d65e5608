import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import {
  callOf,
  startArtifacts,
  text,
  type ArtifactsFixture,
  type Tenant,
  type TestCollection,
} from "../artifacts.fixture.ts";

let fixture: ArtifactsFixture;
let tenant: Tenant;

beforeAll(async () => {
  fixture = await startArtifacts();
});
afterAll(() => fixture.close());
beforeEach(async () => {
  tenant = await fixture.newTenant();
});

const list = async (query: object = {}, call = callOf(tenant)) => {
  const { collections, total } = await fixture.client.listCollections(query, call);
  return [collections.map(({ name }) => name), Number(total)];
};
const get = async (collectionId: string, call = callOf(tenant)) =>
  (await fixture.client.getCollection({ collectionId }, call)).collection!;
const newCollections = async (names: readonly string[], projectId?: string) => {
  const made = [];
  for (const name of names)
    made.push(await fixture.newCollection(tenant, { name, ...(projectId ? { projectId } : {}) }));
  return made;
};

describe("the list", () => {
  test("has those that changed last first, in pages, with an exact total", async () => {
    const [a] = await newCollections(["a", "b", "c"]);
    expect(await list()).toEqual([["c", "b", "a"], 3]);
    await fixture.storeVersion(tenant, a!);
    expect(await list()).toEqual([["a", "c", "b"], 3]);
    expect(await list({ page: { limit: 1, offset: 1n } })).toEqual([["c"], 3]);
    expect(await list({ page: { limit: 1, offset: 7n } })).toEqual([[], 3]);
  });

  test("has 100 unless more are requested, and at most 500", async () => {
    await fixture.ask(
      `INSERT INTO artifacts.collections (org_id, id, project_id, type, name, metadata)
       SELECT $1, gen_random_uuid(), $2, 'model', 'c' || n, '{}' FROM generate_series(1, 501) n`,
      tenant.orgId,
      tenant.projectId,
    );
    const sizeOf = async (limit: number) =>
      (await fixture.client.listCollections({ page: { limit } }, callOf(tenant))).collections.length;
    expect([await sizeOf(0), await sizeOf(500), await sizeOf(501)]).toEqual([100, 500, 500]);
  });

  test("can be of a project, a type and a part of the name", async () => {
    const project = await fixture.newProject(tenant.orgId, "elsewhere");
    await newCollections(["Policy-A", "value"]);
    await newCollections(["policy-b"], project);
    await fixture.newCollection(tenant, { name: "policy-c", type: "dataset" });
    expect(await list({ project: "elsewhere" })).toEqual([["policy-b"], 1]);
    expect(await list({ project: "nowhere" })).toEqual([[], 0]);
    expect(await list({ projectId: project.toUpperCase() })).toEqual([["policy-b"], 1]);
    expect(await list({ projectId: project, project: "nowhere" })).toEqual([["policy-b"], 1]);
    for (const unknown of [randomUUID(), "elsewhere"]) expect(await list({ projectId: unknown })).toEqual([[], 0]);
    expect(await list({ type: "dataset" })).toEqual([["policy-c"], 1]);
    expect(await list({ type: "unknown" })).toEqual([[], 0]);
    expect(await list({ q: "POLICY" })).toEqual([["policy-c", "policy-b", "Policy-A"], 3]);
    expect(await list({ q: "olicy-", type: "model", project: "elsewhere" })).toEqual([["policy-b"], 1]);
  });

  test.each([
    ["%", "100%"],
    ["_", "a_b"],
    ["\\", "a\\b"],
    ["'", "it's"],
    [".*", "x.*y"],
  ])("takes %j in a name for itself", async (q, name) => {
    await newCollections([name, "plain"]);
    expect(await list({ q })).toEqual([[name], 1]);
  });

  test("shows a caller of one project only that one", async () => {
    const project = await fixture.newProject(tenant.orgId, "elsewhere");
    await newCollections(["ours"]);
    await newCollections(["theirs"], project);
    const call = callOf(tenant, { projectId: project });
    const [own] = await fixture.ask<{ name: string }>("SELECT name FROM runs.projects WHERE id = $1", tenant.projectId);
    expect(await list({}, call)).toEqual([["theirs"], 1]);
    expect(await list({ project: "elsewhere" }, call)).toEqual([["theirs"], 1]);
    expect(await list({ project: own!.name }, call)).toEqual([[], 0]);
    expect(await list({ projectId: tenant.projectId }, call)).toEqual([[], 0]);
    expect(await list({}, callOf(await fixture.newTenant()))).toEqual([[], 0]);
  });
});

describe("a collection", () => {
  let collection: TestCollection;
  beforeEach(async () => {
    collection = await fixture.newCollection(tenant);
  });

  test("has what it was made of, and no versions", async () => {
    const [row] = await fixture.ask<{ name: string }>("SELECT name FROM runs.projects WHERE id = $1", tenant.projectId);
    const found = await get(collection.id.toUpperCase());
    expect(found).toMatchObject({
      id: collection.id,
      orgId: tenant.orgId,
      projectId: tenant.projectId,
      project: row!.name,
      name: "policy",
      type: "model",
      versionsCount: 0,
      retainedBytes: 0n,
      pendingDeleteBytes: 0n,
    });
    expect(text(found.metadataJson)).toBe('{"a":1.0}');
    expect([found.description, found.latestVersion, found.bestVersion]).toEqual([undefined, undefined, undefined]);
  });

  test("knows its latest and its best version, as long as they are available", async () => {
    const first = await fixture.storeVersion(tenant, collection, { aliases: ["best"] });
    const second = await fixture.storeVersion(tenant, collection);
    expect(await get(collection.id)).toMatchObject({
      versionsCount: 2,
      latestVersion: { id: second.id, aliases: ["latest"] },
      bestVersion: { id: first.id, aliases: ["best"] },
    });
    await fixture.expire(first);
    await fixture.expire(second);
    const { latestVersion, bestVersion, versionsCount } = await get(collection.id);
    expect([latestVersion, bestVersion, versionsCount]).toEqual([undefined, undefined, 0]);
    const { collections } = await fixture.client.listCollections({}, callOf(tenant));
    expect(collections).toEqual([await get(collection.id)]);
  });

  test("that the caller may not see is 404, for reads and writes, even with other faults", async () => {
    const fault = { text: "no", field: "reason" };
    const cases = [
      { collectionId: collection.id, call: callOf(await fixture.newTenant()) },
      { collectionId: collection.id, call: callOf(tenant, { projectId: await fixture.newProject(tenant.orgId) }) },
      { collectionId: randomUUID(), call: callOf(tenant) },
      { collectionId: "x", call: callOf(tenant) },
    ];
    for (const { collectionId, call } of cases) {
      for (const refused of [
        () => fixture.client.getCollection({ collectionId }, call),
        () => fixture.client.listVersions({ collectionId, queryFault: fault }, call),
        () => fixture.client.setAlias({ collectionId, alias: "LATEST", bodyFault: fault }, call),
        () => fixture.client.deleteAlias({ collectionId, alias: "LATEST", bodyFault: fault }, call),
      ]) {
        await expect(refused()).rejects.toMatchObject({
          reason: "not_found",
          message: "artifact collection not found",
        });
      }
    }
  });

  test("lists its available versions, newest first", async () => {
    const made = [];
    for (let i = 0; i < 5; i += 1) made.push(await fixture.storeVersion(tenant, collection));
    await fixture.expire(made[4]!);
    await fixture.client.deleteVersion({ versionId: made[2]!.id, confirm: made[2]!.id, reason: "r" }, callOf(tenant));
    const versions = async (page?: { limit?: number; offset?: bigint }) => {
      const answer = await fixture.client.listVersions({ collectionId: collection.id, page }, callOf(tenant));
      return [answer.versions.map(({ versionIndex }) => versionIndex), Number(answer.total)];
    };
    expect(await versions()).toEqual([[3, 1, 0], 3]);
    expect(await versions({ limit: 1, offset: 1n })).toEqual([[1], 3]);
    expect(await versions({ limit: 1, offset: 3n })).toEqual([[], 3]);
    const { versions: shown, page } = await fixture.client.listVersions(
      { collectionId: collection.id },
      callOf(tenant),
    );
    expect(shown.map(({ aliases }) => aliases)).toEqual([["latest"], [], []]);
    expect(page).toMatchObject({ limit: 100, offset: 0n });
    const queryFault = { text: "no", field: "limit" };
    await expect(
      fixture.client.listVersions({ collectionId: collection.id, queryFault }, callOf(tenant)),
    ).rejects.toMatchObject({ reason: "bad_request", field: "limit" });
  });

  describe("aliases", () => {
    const set = (versionId: string, fields: object = {}) =>
      fixture.client.setAlias(
        { collectionId: collection.id, alias: "best", versionId, confirm: "best", reason: "r", ...fields },
        callOf(tenant),
      );
    const drop = async (fields: object = {}) =>
      (
        await fixture.client.deleteAlias(
          { collectionId: collection.id, alias: "best", confirm: "best", reason: "r", ...fields },
          callOf(tenant),
        )
      ).deleted;

    test("are created, moved and deleted", async () => {
      const first = await fixture.storeVersion(tenant, collection);
      const second = await fixture.storeVersion(tenant, collection);
      expect((await set(first.id)).version).toMatchObject({ id: first.id, aliases: ["best"] });
      expect((await set(second.id.toUpperCase())).version).toMatchObject({
        id: second.id,
        aliases: ["best", "latest"],
      });
      expect((await get(collection.id)).bestVersion?.id).toBe(second.id);
      expect(await drop()).toBe(true);
      expect(await drop()).toBe(false);
      expect((await get(collection.id)).bestVersion).toBeUndefined();
    });

    test("count as a change of the collection", async () => {
      const { id } = await fixture.storeVersion(tenant, collection);
      const before = (await get(collection.id)).updatedAt;
      await set(id);
      const set1 = (await get(collection.id)).updatedAt;
      await drop();
      const dropped = (await get(collection.id)).updatedAt;
      await drop();
      expect([before, set1, dropped].toSorted()).toEqual([before, set1, dropped]);
      expect(new Set([before, set1, dropped]).size).toBe(3);
      expect((await get(collection.id)).updatedAt).toBe(dropped);
    });

    test("point only at available versions of the collection", async () => {
      const gone = await fixture.storeVersion(tenant, collection);
      await fixture.expire(gone);
      const other = await fixture.storeVersion(tenant, await fixture.newCollection(tenant, { name: "other" }));
      for (const id of [gone.id, other.id, randomUUID()]) {
        await expect(set(id)).rejects.toMatchObject({ reason: "not_found", message: "artifact version not found" });
      }
    });

    test.each([
      ["a reserved alias", { alias: "latest", confirm: "latest" }, "alias"],
      ["another confirmation", { confirm: "bes" }, "confirm"],
      ["a fault that the gateway found", { bodyFault: { text: "no", field: "reason" } }, "reason"],
    ])("with %s are 400", async (_what, fields, field) => {
      const { id } = await fixture.storeVersion(tenant, collection);
      await expect(set(id, fields)).rejects.toMatchObject({ reason: "bad_request", field });
      await expect(drop(fields)).rejects.toMatchObject({ reason: "bad_request", field });
    });

    test("with an id that is none are 400", async () => {
      await expect(set("x")).rejects.toMatchObject({ reason: "bad_request", field: "artifact_version_id" });
    });

    test("that many move at the same time end at one version", async () => {
      const versions = await Promise.all(Array.from({ length: 6 }, () => fixture.storeVersion(tenant, collection)));
      const answers = await Promise.all(versions.map(({ id }) => set(id)));
      expect(answers.every(({ version }) => version!.aliases.includes("best"))).toBe(true);
      const rows = await fixture.ask<{ version_id: string }>(
        "SELECT version_id FROM artifacts.aliases WHERE collection_id = $1",
        collection.id,
      );
      expect(rows).toEqual([{ version_id: (await get(collection.id)).bestVersion!.id }]);
    });
  });
});
