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
let collection: TestCollection;

beforeAll(async () => {
  fixture = await startArtifacts();
});
afterAll(() => fixture.close());
beforeEach(async () => {
  tenant = await fixture.newTenant();
  collection = await fixture.newCollection(tenant);
});

const get = async (versionId: string, call = callOf(tenant)) =>
  (await fixture.client.getVersion({ versionId }, call)).version!;
const remove = (versionId: string) =>
  fixture.client.deleteVersion({ versionId, deleteAliases: true, confirm: versionId, reason: "r" }, callOf(tenant));
const resolve = async (ref: string, defaults: { type?: string; project?: string } = {}, call = callOf(tenant)) =>
  (await fixture.client.resolveVersion({ ref, ...defaults }, call)).version!;

describe("a version", () => {
  test("has what was stored, and indexes from 0", async () => {
    const files = [
      { path: "b", content: "12345" },
      { path: "a", content: "" },
      { path: "c", referenceUri: "s3://x" },
    ];
    const made = await fixture.storeVersion(tenant, collection, { files, aliases: ["best", "a"], sourceStep: 1.5 });
    const version = await get(made.id);
    expect(version).toMatchObject({
      id: made.id,
      orgId: tenant.orgId,
      projectId: tenant.projectId,
      collectionId: collection.id,
      name: "policy",
      type: "model",
      versionIndex: 0,
      aliases: ["a", "best", "latest"],
      sourceRunId: made.runId,
      sourceStep: 1.5,
      fileCount: 3,
      sizeBytes: 5n,
      state: "active",
      retentionMode: "inherit",
    });
    expect(version.digest).toMatch(/^sha256:[0-9a-f]{64}$/);
    expect(text(version.metadataJson)).toBe("{}");
    expect([
      version.ttlDays,
      version.expiresAt,
      version.deletedAt,
      version.deleteRequestedAt,
      version.auditReason,
    ]).toEqual(Array(5).fill(undefined));
    expect((await fixture.storeVersion(tenant, collection)).index).toBe(1);
    expect((await get(made.id)).aliases).toEqual(["a", "best"]);
  });

  test("with a number of days ends that long after it was created", async () => {
    const { id } = await fixture.storeVersion(tenant, collection, { ttlDays: 3 });
    const { createdAt, expiresAt, retentionMode, ttlDays } = await get(id);
    expect([retentionMode, ttlDays]).toEqual(["days", 3]);
    expect(Date.parse(expiresAt!) - Date.parse(createdAt)).toBe(3 * 86_400_000);
  });

  test("takes aliases from the version that had them", async () => {
    const first = await fixture.storeVersion(tenant, collection, { aliases: ["best", "old"] });
    const second = await fixture.storeVersion(tenant, collection, { aliases: ["best", "best"] });
    expect((await get(first.id)).aliases).toEqual(["old"]);
    expect((await get(second.id)).aliases).toEqual(["best", "latest"]);
  });

  test("`latest` is the available one with the highest index, and indexes are never used again", async () => {
    const versions = [];
    for (let i = 0; i < 3; i += 1) versions.push(await fixture.storeVersion(tenant, collection));
    await remove(versions[2]!.id);
    expect((await get(versions[1]!.id)).aliases).toEqual(["latest"]);
    await fixture.expire(versions[1]!);
    expect((await get(versions[0]!.id)).aliases).toEqual(["latest"]);
    expect((await fixture.storeVersion(tenant, collection)).index).toBe(3);
  });

  test("20 simultaneous ones have all the indexes", async () => {
    const made = await Promise.all(
      Array.from({ length: 20 }, () => fixture.storeVersion(tenant, collection, { aliases: ["best"] })),
    );
    expect(made.map(({ index }) => index).toSorted((a, b) => a - b)).toEqual(Array.from({ length: 20 }, (_, i) => i));
    expect((await resolve("policy:best")).aliases).toContain("best");
  });
});

describe("a version that is", () => {
  const ends: [string, string, (made: { id: string; index: number; runId: string }) => Promise<unknown>][] = [
    ["deleted", "gone", ({ id }) => remove(id)],
    ["past its end", "gone", (made) => fixture.expire(made)],
  ];
  test.each(ends)("%s is %s by its id", async (_what, reason, end) => {
    const made = await fixture.storeVersion(tenant, collection, { files: [{ path: "a" }] });
    const { entries } = await fixture.client.listEntries({ versionId: made.id }, callOf(tenant));
    const runId = await fixture.newRun(tenant);
    await end(made);
    const call = callOf(tenant);
    const queryFault = { text: "no", field: "limit" };
    for (const refused of [
      () => fixture.client.getVersion({ versionId: made.id }, call),
      () => fixture.client.listEntries({ versionId: made.id, queryFault }, call),
      () => fixture.client.getVersionLineage({ versionId: made.id, queryFault }, call),
      () => fixture.client.addInput({ runId, versionId: made.id }, call),
      () => fixture.client.locateEntry({ entryId: entries[0]!.id }, call),
    ]) {
      await expect(refused()).rejects.toMatchObject({ reason });
    }
    for (const ref of ["policy", "policy:v0"])
      await expect(resolve(ref)).rejects.toMatchObject({ reason: "not_found" });
  });

  test("another organization's or project's, or missing, is not found anywhere", async () => {
    const made = await fixture.storeVersion(tenant, collection);
    const { entries } = await fixture.client.listEntries({ versionId: made.id }, callOf(tenant));
    const entryId = entries[0]!.id;
    const other = await fixture.newTenant();
    const otherProject = await fixture.newProject(tenant.orgId);
    const foreign = callOf(other);
    const scoped = callOf(tenant, { projectId: otherProject });
    const cases = [
      { id: made.id, entry: entryId, call: foreign },
      { id: made.id, entry: entryId, call: scoped },
      { id: randomUUID(), entry: randomUUID(), call: callOf(tenant) },
      { id: "x", entry: "x", call: callOf(tenant) },
    ];
    const fault = { text: "no", field: "reason" };
    for (const { id: versionId, entry, call } of cases) {
      for (const refused of [
        () => fixture.client.getVersion({ versionId }, call),
        () => fixture.client.listEntries({ versionId, queryFault: fault }, call),
        () => fixture.client.getVersionLineage({ versionId, queryFault: fault }, call),
        () => fixture.client.setRetention({ versionId, bodyFault: fault }, call),
        () => fixture.client.deleteVersion({ versionId, bodyFault: fault }, call),
      ]) {
        await expect(refused()).rejects.toMatchObject({ reason: "not_found", message: "artifact version not found" });
      }
      await expect(fixture.client.locateEntry({ entryId: entry }, call)).rejects.toMatchObject({
        reason: "not_found",
        message: "artifact entry not found",
      });
    }
    expect((await get(made.id.toUpperCase())).id).toBe(made.id);
  });
});

describe("entries", () => {
  test("are sorted by path in the order of bytes, in pages, with an exact total", async () => {
    const paths = ["b/x", "a", "b", "b.txt", "é", "b/y", "B"];
    const { id: versionId } = await fixture.storeVersion(tenant, collection, {
      files: paths.map((path) => ({ path, content: path })),
    });
    const list = async (query: object = {}) => {
      const answer = await fixture.client.listEntries({ versionId, ...query }, callOf(tenant));
      return [answer.entries.map(({ path }) => path), Number(answer.total)];
    };
    expect(await list()).toEqual([["B", "a", "b", "b.txt", "b/x", "b/y", "é"], 7]);
    expect(await list({ page: { limit: 2, offset: 3n } })).toEqual([["b.txt", "b/x"], 7]);
    expect(await list({ page: { limit: 2, offset: 9n } })).toEqual([[], 7]);
    expect(await list({ pathPrefix: "b/" })).toEqual([["b/x", "b/y"], 2]);
    expect(await list({ pathPrefix: "b", page: { limit: 1 } })).toEqual([["b"], 4]);
    expect(await list({ pathPrefix: "%" })).toEqual([[], 0]);
    expect(await list({ pathPrefix: "b_" })).toEqual([[], 0]);
  });

  test("say what they are and where their bytes are", async () => {
    const made = await fixture.storeVersion(tenant, collection, {
      files: [
        { path: "dir/hello.txt", content: "hello" },
        { path: "ref", referenceUri: "s3://x" },
      ],
    });
    const { entries, page } = await fixture.client.listEntries({ versionId: made.id }, callOf(tenant));
    expect(page).toMatchObject({ limit: 100, offset: 0n });
    const { createdAt } = await get(made.id);
    expect(entries).toMatchObject([
      {
        versionId: made.id,
        path: "dir/hello.txt",
        kind: "file",
        sizeBytes: 5n,
        sha256: "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824",
        mimeType: "text/plain",
        storageBackend: "local",
        downloadable: true,
        createdAt,
      },
      {
        path: "ref",
        kind: "reference",
        referenceUri: "s3://x",
        storageBackend: "external",
        downloadable: false,
        createdAt,
      },
    ]);
    expect([entries[1]!.sizeBytes, entries[1]!.sha256]).toEqual([undefined, undefined]);
    const located = await fixture.client.locateEntry({ entryId: entries[0]!.id }, callOf(tenant));
    expect(located).toMatchObject({ sizeBytes: 5n, mimeType: "text/plain", name: "dir/hello.txt" });
    expect(await fixture.ask("SELECT state FROM artifacts.objects WHERE id = $1", located.objectId)).toEqual([
      { state: "stored" },
    ]);
    await expect(fixture.client.locateEntry({ entryId: entries[1]!.id }, callOf(tenant))).rejects.toMatchObject({
      reason: "not_found",
      message: "artifact entry not found",
    });
  });

  test("with a fault of the query are 400", async () => {
    const { id: versionId } = await fixture.storeVersion(tenant, collection);
    const queryFault = { text: "no", field: "offset" };
    await expect(fixture.client.listEntries({ versionId, queryFault }, callOf(tenant))).rejects.toMatchObject({
      reason: "bad_request",
      field: "offset",
    });
  });
});

describe("a reference", () => {
  test("names a version by alias, index or nothing", async () => {
    const first = await fixture.storeVersion(tenant, collection, { aliases: ["valid"] });
    const second = await fixture.storeVersion(tenant, collection);
    expect((await resolve("policy")).id).toBe(second.id);
    expect((await resolve("policy:latest")).id).toBe(second.id);
    expect((await resolve("policy:v0")).id).toBe(first.id);
    expect((await resolve("model/policy:valid")).id).toBe(first.id);
    const [{ name }] = (await fixture.ask<{ name: string }>(
      "SELECT name FROM runs.projects WHERE id = $1",
      tenant.projectId,
    )) as [{ name: string }];
    expect((await resolve(`${name}/model/policy:v1`)).id).toBe(second.id);
    expect((await resolve("policy", { type: "model", project: name })).id).toBe(second.id);
  });

  test("wins over the other parameters", async () => {
    const { id } = await fixture.storeVersion(tenant, collection);
    expect((await resolve("model/policy", { type: "dataset" })).id).toBe(id);
    const [row] = await fixture.ask<{ name: string }>("SELECT name FROM runs.projects WHERE id = $1", tenant.projectId);
    expect((await resolve(`${row!.name}/model/policy`, { project: "nowhere" })).id).toBe(id);
  });

  test.each([
    "policy:v1",
    "policy:v99999999999",
    "policy:none",
    "other",
    "dataset/policy",
    "nowhere/model/policy",
    "POLICY",
  ])("%s that nothing has is 404", async (ref) => {
    await fixture.storeVersion(tenant, collection);
    await expect(resolve(ref)).rejects.toMatchObject({ reason: "not_found", message: "artifact version not found" });
  });

  test("to an alias of a version that is not available is 404", async () => {
    const made = await fixture.storeVersion(tenant, collection, { aliases: ["best"] });
    await fixture.expire(made);
    await expect(resolve("policy:best")).rejects.toMatchObject({ reason: "not_found" });
  });

  test("that fits several collections is 400, until it says which", async () => {
    await fixture.storeVersion(tenant, collection);
    const dataset = await fixture.newCollection(tenant, { type: "dataset" });
    const project = await fixture.newProject(tenant.orgId, "elsewhere");
    const elsewhere = await fixture.newCollection(tenant, { projectId: project });
    const made = await fixture.storeVersion(tenant, elsewhere);
    for (const ref of ["policy", "model/policy"]) {
      await expect(resolve(ref)).rejects.toMatchObject({ reason: "bad_request", field: "ref" });
    }
    expect((await resolve("elsewhere/model/policy")).id).toBe(made.id);
    await expect(resolve("policy", { type: "dataset" })).rejects.toMatchObject({ reason: "not_found" });
    const { id } = await fixture.storeVersion(tenant, dataset);
    expect((await resolve("policy", { type: "dataset" })).id).toBe(id);
    // A key of a project sees only that one.
    expect((await resolve("policy", {}, callOf(tenant, { projectId: project }))).id).toBe(made.id);
  });

  test("to another project or organization is 404", async () => {
    await fixture.storeVersion(tenant, collection);
    const [row] = await fixture.ask<{ name: string }>("SELECT name FROM runs.projects WHERE id = $1", tenant.projectId);
    const scoped = callOf(tenant, { projectId: await fixture.newProject(tenant.orgId) });
    for (const call of [scoped, callOf(await fixture.newTenant())]) {
      for (const ref of ["policy", `${row!.name}/model/policy`]) {
        await expect(resolve(ref, {}, call)).rejects.toMatchObject({ reason: "not_found" });
      }
    }
  });
});
