import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { REGISTRY, TEXT_TAGS } from "@tidemark/limits";
import { type ArtifactsFixture, callOf, startArtifacts, storageOf, type Tenant } from "../artifacts.fixture.ts";
import { removeArtifacts } from "../removal/remove-artifacts.ts";

let fixture: ArtifactsFixture;
beforeAll(async () => {
  fixture = await startArtifacts();
});
afterAll(() => fixture.close());

const failure = (promise: Promise<unknown>) =>
  promise.then(
    () => undefined,
    (error: unknown) => error,
  );

const register = (tenant: Tenant, name = "m", fields: object = {}) =>
  fixture.registry.createRegisteredModel({ name, ...fields }, callOf(tenant));
async function addVersion(
  tenant: Tenant,
  fields: Parameters<ArtifactsFixture["registry"]["createRegisteredVersion"]>[0] = {},
) {
  const { version } = await fixture.registry.createRegisteredVersion(
    { name: "m", source: "s", ...fields },
    callOf(tenant),
  );
  return version!;
}
const get = async (tenant: Tenant, name = "m") =>
  (await fixture.registry.getRegisteredModel({ name }, callOf(tenant))).model!;
const numberOf = async (tenant: Tenant, alias: string) =>
  (await fixture.registry.getRegisteredVersion({ name: "m", which: { case: "alias", value: alias } }, callOf(tenant)))
    .version?.number;
const at = (number: number) => ({ name: "m", which: { case: "number" as const, value: number } });

/** A run with files, as plain artifacts. */
async function runWithFiles(tenant: Tenant, files: readonly (readonly [string, string])[]): Promise<string> {
  const runId = await fixture.newRun(tenant);
  for (const [name, content] of files) {
    const object = await fixture.written(tenant, content);
    await fixture.client.storeArtifact(
      { runId, artifact: { name, type: "file", mimeType: "m" }, object },
      callOf(tenant),
    );
  }
  return runId;
}

test("a registered model is made, changed, renamed and deleted", async () => {
  const tenant = await fixture.newTenant();
  const call = callOf(tenant);
  await register(tenant, "m", { description: "é", tags: { a: "1", b: "2" } });
  await register(tenant, "other");
  expect(await failure(register(tenant))).toMatchObject({ reason: "conflict", field: "name" });
  const taken = fixture.registry.updateRegisteredModel({ name: "m", newName: "other" }, call);
  expect(await failure(taken)).toMatchObject({ reason: "conflict" });
  const change = { name: "m", newName: "n", description: "", setTags: { c: "3" }, removedTags: ["a", "none"] };
  const { model } = await fixture.registry.updateRegisteredModel(change, call);
  expect(model).toMatchObject({
    name: "n",
    description: "",
    tags: { b: "2", c: "3" },
    latestVersions: [],
    aliases: [],
  });
  expect(await get(tenant, "n")).toEqual(model);
  await fixture.registry.deleteRegisteredModel({ name: "n" }, call);
  for (const name of ["n", "m", "a\0"]) {
    for (const asking of [get(tenant, name), fixture.registry.deleteRegisteredModel({ name }, call)]) {
      expect(await failure(asking)).toMatchObject({ reason: "not_found", message: "registered model not found" });
    }
  }
  await register(tenant, "n");
  await register(await fixture.newTenant(), "n");
});

test("numbers of versions are never used again", async () => {
  const tenant = await fixture.newTenant();
  const call = callOf(tenant);
  await register(tenant);
  const numbers = [];
  for (let i = 0; i < 3; i += 1) numbers.push((await addVersion(tenant)).number);
  await fixture.registry.deleteRegisteredVersion({ name: "m", number: 3 }, call);
  numbers.push((await addVersion(tenant)).number);
  expect(numbers).toEqual([1, 2, 3, 4]);
  for (const number of [3, 0, 2 ** 32 - 1]) {
    for (const asking of [
      fixture.registry.getRegisteredVersion(at(number), call),
      fixture.registry.deleteRegisteredVersion({ name: "m", number }, call),
      fixture.registry.updateRegisteredVersion({ name: "m", number }, call),
      fixture.registry.setRegisteredAlias({ name: "m", alias: "a", number }, call),
    ]) {
      expect(await failure(asking)).toMatchObject({ reason: "not_found", message: "model version not found" });
    }
  }
  const parallel = await Promise.all(Array.from({ length: 8 }, () => addVersion(tenant)));
  expect(parallel.map(({ number }) => number).toSorted((a, b) => a - b)).toEqual([5, 6, 7, 8, 9, 10, 11, 12]);
});

test("stages move, the others on request, and the latest of each stage is listed by number", async () => {
  const tenant = await fixture.newTenant();
  const call = callOf(tenant);
  await register(tenant);
  for (let i = 0; i < 4; i += 1) await addVersion(tenant);
  const move = (number: number, stage: string, stageOfOthers?: string) =>
    fixture.registry.updateRegisteredVersion({ name: "m", number, stage, stageOfOthers: stageOfOthers! }, call);
  await move(1, "production");
  await move(3, "production");
  await move(2, "production", "archived");
  const stages = async () => (await get(tenant)).latestVersions.map(({ number, stage }) => [number, stage]);
  expect(await stages()).toEqual([
    [2, "production"],
    [3, "archived"],
    [4, "none"],
  ]);
  for (const [stage, others] of [["shipped"], ["staging", "old"]] as const) {
    expect(await failure(move(1, stage, others))).toMatchObject({ reason: "bad_request", field: "stage" });
  }
  const { version } = await fixture.registry.updateRegisteredVersion(
    { name: "m", number: 1, description: "d", setTags: { a: "1" }, removedTags: ["none"] },
    call,
  );
  expect(version).toMatchObject({ number: 1, stage: "archived", description: "d", tags: { a: "1" } });
});

test("aliases are set, moved and removed, and end with their version", async () => {
  const tenant = await fixture.newTenant();
  const call = callOf(tenant);
  await register(tenant);
  await addVersion(tenant);
  await addVersion(tenant);
  const set = (alias: string, number?: number) =>
    fixture.registry.setRegisteredAlias({ name: "m", alias, number: number! }, call);
  await set("Best of All", 1);
  await set("x", 1);
  await set("x", 2);
  await set("none");
  expect([await numberOf(tenant, "Best of All"), await numberOf(tenant, "x"), await numberOf(tenant, "none")]).toEqual([
    1,
    2,
    undefined,
  ]);
  expect((await get(tenant)).aliases).toMatchObject([
    { alias: "Best of All", number: 1 },
    { alias: "x", number: 2 },
  ]);
  expect((await fixture.registry.getRegisteredVersion(at(2), call)).version?.aliases).toEqual(["x"]);
  await set("Best of All");
  await fixture.registry.deleteRegisteredVersion({ name: "m", number: 2 }, call);
  expect((await get(tenant)).aliases).toEqual([]);
  for (const alias of [
    "",
    "a/b",
    "a:b",
    "latest",
    "LATEST",
    "v12",
    "V1",
    "x\0",
    "é".repeat(REGISTRY.aliasCharactersMax + 1),
  ]) {
    expect(await failure(set(alias, 1))).toMatchObject({ reason: "bad_request" });
  }
  await set("é".repeat(REGISTRY.aliasCharactersMax), 1);
});

describe("a version whose files are kept here", () => {
  test("is a version of the collection with the same bytes; the same files again are no new one there", async () => {
    const tenant = await fixture.newTenant();
    const call = callOf(tenant);
    await register(tenant, "my model");
    const files = [
      ["model/MLmodel", "old"],
      ["model/MLmodel", "new"],
      ["model/data/x.bin", "bytes"],
      ["model.txt", "beside"],
    ] as const;
    const runId = await runWithFiles(tenant, files);
    const add = () => addVersion(tenant, { name: "my model", runId, folder: "model" });
    const [first, second] = [await add(), await add()];
    expect([first.number, second.number]).toEqual([1, 2]);
    expect(second.artifactVersionId).toBe(first.artifactVersionId);
    const { version } = await fixture.client.getVersion({ versionId: first.artifactVersionId! }, call);
    expect(version).toMatchObject({
      name: "my model",
      type: "model",
      versionIndex: 0,
      sourceRunId: runId,
      fileCount: 2,
      sizeBytes: 8n,
    });
    const { entries } = await fixture.client.listEntries({ versionId: version!.id }, call);
    expect(entries.map(({ path, downloadable }) => [path, downloadable])).toEqual([
      ["MLmodel", true],
      ["data/x.bin", true],
    ]);
    const refs = await fixture.ask(
      "SELECT o.refs FROM artifacts.entries e JOIN artifacts.objects o ON o.id = e.object_id WHERE e.version_id = $1",
      version!.id,
    );
    expect(refs).toEqual([{ refs: 2 }, { refs: 2 }]);
    const { counters, counted } = await storageOf(fixture, tenant);
    expect(counters).toEqual(counted);
    expect(counters).toMatchObject({ collections: 1, versions_active: 1, version_bytes: 8 });
  });

  test("comes from a logged model, whose run it gets", async () => {
    const tenant = await fixture.newTenant();
    const call = callOf(tenant);
    await register(tenant);
    const sourceRunId = await fixture.newRun(tenant);
    const made = await fixture.models.createModel({ projectId: tenant.projectId, name: "x", sourceRunId }, call);
    const modelId = made.model!.id;
    const object = await fixture.written(tenant, "weights");
    await fixture.models.storeModelFile({ modelId, path: "MLmodel", mimeType: "m", object }, call);
    const version = await addVersion(tenant, { modelId, folder: "" });
    expect(version).toMatchObject({ runId: sourceRunId, modelId });
    const { entries } = await fixture.client.listEntries({ versionId: version.artifactVersionId! }, call);
    expect(entries.map(({ path }) => path)).toEqual(["MLmodel"]);
    await removeArtifacts(fixture.db, {
      orgId: tenant.orgId,
      kind: "run",
      id: sourceRunId,
      projectId: tenant.projectId,
    });
    expect((await fixture.models.getModel({ modelId }, call)).model?.id).toBe(modelId);
    await fixture.models.deleteModel({ modelId }, call);
    const after = await fixture.client.listEntries({ versionId: version.artifactVersionId! }, call);
    expect(after.entries[0]).toMatchObject({ downloadable: true });
  });

  test("has the aliases that collections allow there too", async () => {
    const tenant = await fixture.newTenant();
    const call = callOf(tenant);
    await register(tenant);
    const runs = [await runWithFiles(tenant, [["m/f", "1"]]), await runWithFiles(tenant, [["m/f", "2"]])];
    const ids: string[] = [];
    for (const runId of runs) ids.push((await addVersion(tenant, { runId, folder: "m" })).artifactVersionId!);
    const elsewhere = await fixture.newProject(tenant.orgId);
    const away = await runWithFiles({ ...tenant, projectId: elsewhere }, [["m/f", "3"]]);
    ids.push((await addVersion(tenant, { runId: away, folder: "m" })).artifactVersionId!);
    await addVersion(tenant);
    const set = (alias: string, number?: number) =>
      fixture.registry.setRegisteredAlias({ name: "m", alias, number: number! }, call);
    const aliases = async () => {
      const read = [];
      for (const versionId of ids) {
        const { version } = await fixture.client.getVersion({ versionId }, call);
        read.push(version!.aliases.filter((alias) => alias !== "latest"));
      }
      return read;
    };
    await set("champion", 1);
    await set("Not Here", 1);
    expect(await aliases()).toEqual([["champion"], [], []]);
    await set("champion", 2);
    expect(await aliases()).toEqual([[], ["champion"], []]);
    await set("champion", 3);
    expect(await aliases()).toEqual([[], [], ["champion"]]);
    await set("champion", 4);
    expect(await aliases()).toEqual([[], [], []]);
    await set("champion", 1);
    await set("champion");
    expect(await aliases()).toEqual([[], [], []]);
  });

  test.each([
    ["no folder", { folder: undefined }],
    ["an empty folder", { folder: "none" }],
  ])("is not one of a collection with %s", async (_what, fields) => {
    const tenant = await fixture.newTenant();
    await register(tenant);
    const runId = await runWithFiles(tenant, [["m/f", "1"]]);
    const version = await addVersion(tenant, {
      runId,
      ...(fields.folder === undefined ? {} : { folder: fields.folder }),
    });
    expect(version).toMatchObject({ number: 1, runId });
    expect(version.artifactVersionId).toBeUndefined();
    expect(await fixture.ask("SELECT FROM artifacts.collections WHERE org_id = $1", tenant.orgId)).toEqual([]);
  });
});

describe("a refused request stores nothing", () => {
  const long = (bytes: number) => "x".repeat(bytes + 1);
  test.each([
    ["no name", { name: "" }],
    ["a slash", { name: "a/b" }],
    ["a colon", { name: "a:b" }],
    ["a long name", { name: long(REGISTRY.nameBytesMax) }],
    ["NUL", { name: "a\0" }],
    ["a long description", { description: long(REGISTRY.descriptionBytesMax) }],
    ["a long key", { tags: { [long(TEXT_TAGS.keyBytesMax)]: "" } }],
    ["too many texts", { tags: { a: long(1024 * 1024) } }],
  ])("a registered model with %s is 400", async (_what, fields) => {
    const tenant = await fixture.newTenant();
    expect(await failure(register(tenant, "m", fields))).toMatchObject({ reason: "bad_request" });
    expect(await fixture.ask("SELECT FROM artifacts.registered_models WHERE org_id = $1", tenant.orgId)).toEqual([]);
  });

  test.each([
    ["no source", { source: "" }, "bad_request"],
    ["a long source", { source: long(REGISTRY.sourceBytesMax) }, "bad_request"],
    ["a long link", { runLink: long(REGISTRY.sourceBytesMax) }, "bad_request"],
    ["a long description", { description: long(REGISTRY.descriptionBytesMax) }, "bad_request"],
    ["an empty key", { tags: { "": "" } }, "bad_request"],
    ["an unknown model", { name: "none" }, "not_found"],
    ["an unknown run", { runId: randomUUID() }, "not_found"],
    ["an unknown logged model", { modelId: randomUUID() }, "not_found"],
  ])("a version with %s", async (_what, fields, reason) => {
    const tenant = await fixture.newTenant();
    await register(tenant);
    expect(await failure(addVersion(tenant, fields))).toMatchObject({ reason });
    expect((await addVersion(tenant)).number).toBe(1);
  });

  test("of an unpaid organization", async () => {
    const tenant = await fixture.newTenant();
    await register(tenant);
    await addVersion(tenant);
    const unpaid = callOf(tenant, { billingState: "canceled" });
    for (const asking of [
      fixture.registry.createRegisteredModel({ name: "n" }, unpaid),
      fixture.registry.updateRegisteredModel({ name: "m", description: "x" }, unpaid),
      fixture.registry.createRegisteredVersion({ name: "m", source: "s" }, unpaid),
      fixture.registry.updateRegisteredVersion({ name: "m", number: 1 }, unpaid),
    ]) {
      expect(await failure(asking)).toMatchObject({ reason: "payment_required" });
    }
  });
});

test("a caller of one project sees what is registered there", async () => {
  const tenant = await fixture.newTenant();
  const bound = callOf(tenant, { projectId: tenant.projectId });
  const elsewhere = await fixture.newProject(tenant.orgId);
  const stranger = callOf(tenant, { projectId: elsewhere });
  await fixture.registry.createRegisteredModel({ name: "m" }, bound);
  await register(tenant, "unbound");
  const runId = await runWithFiles({ ...tenant, projectId: elsewhere }, []);
  await addVersion(tenant, { runId });
  await addVersion(tenant, { runId: await fixture.newRun(tenant) });
  const { model } = await fixture.registry.getRegisteredModel({ name: "m" }, bound);
  expect(model!.latestVersions.map(({ number }) => number)).toEqual([2]);
  expect(await failure(fixture.registry.getRegisteredVersion(at(1), bound))).toMatchObject({ reason: "not_found" });
  for (const name of ["m", "unbound"]) {
    expect(await failure(fixture.registry.getRegisteredModel({ name }, stranger))).toMatchObject({
      reason: "not_found",
    });
  }
  await addVersion(tenant, { name: "unbound", runId });
  expect((await fixture.registry.getRegisteredModel({ name: "unbound" }, stranger)).model?.latestVersions).toHaveLength(
    1,
  );
  const { models } = await fixture.registry.searchRegisteredModels({ limit: 9 }, stranger);
  expect(models.map(({ name }) => name)).toEqual(["unbound"]);
  const { versions } = await fixture.registry.searchRegisteredVersions({ limit: 9 }, bound);
  expect(versions.map(({ name, number }) => [name, number])).toEqual([["m", 2]]);
  await fixture.ask("UPDATE runs.projects SET deleted_at = now(), purge_after = now() WHERE id = $1", elsewhere);
  expect((await fixture.registry.searchRegisteredVersions({ limit: 9 }, callOf(tenant))).versions).toHaveLength(1);

  await removeArtifacts(fixture.db, { orgId: tenant.orgId, kind: "project", id: elsewhere, projectId: null });
  expect(await failure(get(tenant, "unbound"))).toMatchObject({ reason: "not_found" });
  await removeArtifacts(fixture.db, { orgId: tenant.orgId, kind: "organization", id: tenant.orgId, projectId: null });
  const left = await fixture.ask("SELECT FROM artifacts.registered_models WHERE org_id = $1", tenant.orgId);
  expect(left).toEqual([]);
});
