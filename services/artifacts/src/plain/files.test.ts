import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { writeCursor } from "@tidemark/values";
import { callOf, startArtifacts, storageOf, type ArtifactsFixture, type Tenant } from "../artifacts.fixture.ts";

let fixture: ArtifactsFixture;
let tenant: Tenant;
let runId: string;

beforeAll(async () => {
  fixture = await startArtifacts();
});
afterAll(() => fixture.close());
beforeEach(async () => {
  tenant = await fixture.newTenant();
  runId = await fixture.newRun(tenant);
});

const store = async (name: string, content = name, replace = false, type = "file") => {
  const object = await fixture.written(tenant, content);
  const request = { runId, artifact: { name, type, mimeType: "text/plain" }, object, replace };
  return (await fixture.client.storeArtifact(request, callOf(tenant))).artifact!;
};
const external = (name: string) =>
  fixture.client.createArtifact(
    { runId, artifact: { name, type: "file", mimeType: "text/plain" }, uri: "s3://b/a" },
    callOf(tenant),
  );
const names = async () =>
  (await fixture.client.listArtifacts({ runId }, callOf(tenant))).artifacts.map(({ name }) => name).toSorted();
const list = async (folder = "", limit = 1000) => {
  const seen: (readonly [string, bigint | undefined])[] = [];
  for (let cursor = ""; ;) {
    const page = await fixture.client.listFolder({ runId, folder, limit, cursor }, callOf(tenant));
    expect(page.items.every(({ isFolder, sizeBytes }) => isFolder === (sizeBytes === undefined))).toBe(true);
    seen.push(...page.items.map(({ name, sizeBytes }) => [name, sizeBytes] as const));
    if (page.nextCursor === "") return seen;
    cursor = page.nextCursor;
  }
};
const locate = (name: string) => fixture.client.locateFile({ runId, name }, callOf(tenant));
const remove = async (path: string) => (await fixture.client.deleteFiles({ runId, path }, callOf(tenant))).deleted;
const consistent = async () => {
  const { counters, counted } = await storageOf(fixture, tenant);
  expect(counters).toEqual(counted);
};
const missing = { reason: "not_found" };

describe("a replacing artifact", () => {
  test("takes the place of all with its name, of any type, in its run alone", async () => {
    const first = await store("a/b", "one");
    await store("a/b", "two", false, "checkpoint");
    await external("a/b");
    await store("a/bc");
    const other = await fixture.newRun(tenant);
    const kept = await fixture.client.storeArtifact(
      { runId: other, artifact: { name: "a/b", type: "file", mimeType: "m" }, object: await fixture.written(tenant) },
      callOf(tenant),
    );
    const newest = await store("a/b", "three!", true);
    expect(await names()).toEqual(["a/b", "a/bc"]);
    const lost = fixture.client.locateArtifact({ artifactId: first.id }, callOf(tenant));
    await expect(lost).rejects.toMatchObject(missing);
    expect(await locate("a/b")).toMatchObject({ sizeBytes: newest.sizeBytes });
    expect(await fixture.client.locateArtifact({ artifactId: kept.artifact!.id }, callOf(tenant))).toBeDefined();
    const counts = await fixture.client.countArtifacts({ runIds: [runId, other] }, callOf(tenant));
    expect(counts.counts).toEqual([2, 1]);
    await consistent();
  });

  test("with the same bytes keeps them", async () => {
    await store("a", "same", true);
    await store("a", "same", true);
    expect(await names()).toEqual(["a"]);
    expect(await fixture.client.getStorage({}, callOf(tenant))).toMatchObject({
      activeBytes: 4n,
      pendingDeleteBytes: 0n,
    });
    await consistent();
  });

  test("is alone after several that come together", async () => {
    await Promise.all(Array.from({ length: 6 }, (_, i) => store("a", `content ${i}`, true)));
    expect(await names()).toEqual(["a"]);
    await consistent();
  });

  test("that is refused replaces nothing", async () => {
    await store("a", "kept");
    const object = { objectId: randomUUID(), sizeBytes: 1n, sha256: new Uint8Array(32) };
    const artifact = { name: "a", type: "file", mimeType: "m" };
    const storing = fixture.client.storeArtifact({ runId, artifact, object, replace: true }, callOf(tenant));
    await expect(storing).rejects.toMatchObject({ reason: "service_unavailable" });
    expect(await locate("a")).toMatchObject({ sizeBytes: 4n });
    await consistent();
  });
});

describe("a folder", () => {
  beforeEach(async () => {
    for (const name of ["a", "a.txt", "d/x", "d/x", "d/y/z", "d/y/w/v", "d0", "é/日 本"]) await store(name);
    await store("a.txt", "newest");
    await external("s3");
  });

  test.each([1, 2, 3, 1000])("has its files and folders by name, in pages of %i", async (limit) => {
    expect(await list("", limit)).toEqual([
      ["a", 1n],
      ["a.txt", 6n],
      ["d", undefined],
      ["d0", 2n],
      ["é", undefined],
    ]);
    expect(await list("d", limit)).toEqual([
      ["x", 3n],
      ["y", undefined],
    ]);
    expect(await list("d/y", limit)).toEqual([
      ["w", undefined],
      ["z", 5n],
    ]);
    expect(await list("é", limit)).toEqual([["日 本", BigInt(Buffer.byteLength("é/日 本"))]]);
    for (const nothing of ["a", "d/x", "none", "d/"]) expect(await list(nothing, limit)).toEqual([]);
  });

  test("is deleted with what is in it, or a file alone", async () => {
    expect(await remove("none")).toBe(0);
    expect(await remove("a")).toBe(1);
    expect(await remove("a.txt")).toBe(2);
    expect(await remove("d")).toBe(4);
    expect((await list()).map(([name]) => name)).toEqual(["d0", "é"]);
    await consistent();
    expect(await remove("")).toBe(3);
    expect(await names()).toEqual([]);
    await consistent();
  });

  test("with more files than are deleted together is deleted whole", async () => {
    await fixture.ask(
      `INSERT INTO artifacts.artifacts (org_id, id, run_id, project_id, type, name, uri, mime_type, storage_backend, metadata)
       SELECT $1, gen_random_uuid(), $2, $3, 'file', 'many/' || i, 'u', 'm', 'external', '{}' FROM generate_series(1, 450) i`,
      tenant.orgId,
      runId,
      tenant.projectId,
    );
    await fixture.ask("UPDATE artifacts.run_counts SET files = files + 450 WHERE run_id = $1", runId);
    await fixture.ask(
      "UPDATE artifacts.storage SET artifacts = artifacts + 450, unknown_sizes = unknown_sizes + 450 WHERE org_id = $1",
      tenant.orgId,
    );
    expect(await remove("many")).toBe(450);
    await consistent();
  });

  test("has its limits", async () => {
    const ask = (fields: object) => fixture.client.listFolder({ runId, limit: 1, ...fields }, callOf(tenant));
    await ask({ folder: "x".repeat(512) });
    const wrong = [
      { limit: 0 },
      { limit: 1001 },
      { folder: "x".repeat(513) },
      { cursor: "x" },
      { folder: "d", cursor: writeCursor(["a"]) },
      { cursor: writeCursor(["a\0"]) },
    ];
    for (const fields of wrong) await expect(ask(fields)).rejects.toMatchObject({ reason: "bad_request" });
    await expect(remove("x".repeat(513))).rejects.toMatchObject({ reason: "bad_request", field: "path" });
  });
});

test("the newest file of a name is located, unless its bytes are elsewhere", async () => {
  await store("a", "1");
  await store("a", "second");
  expect(await locate("a")).toMatchObject({ sizeBytes: 6n, mimeType: "text/plain" });
  await expect(locate("b")).rejects.toMatchObject(missing);
  await external("a");
  await expect(locate("a")).rejects.toMatchObject(missing);
});

test("a run of another organization or of another project is not found", async () => {
  await store("a");
  const stranger = await fixture.newTenant();
  const elsewhere = { projectId: await fixture.newProject(tenant.orgId) };
  const asks = (call: ReturnType<typeof callOf>) => [
    fixture.client.listFolder({ runId, limit: 1 }, call),
    fixture.client.locateFile({ runId, name: "a" }, call),
    fixture.client.deleteFiles({ runId, path: "a" }, call),
  ];
  const asked = await Promise.allSettled([...asks(callOf(stranger)), ...asks(callOf(tenant, elsewhere))]);
  expect(asked.map((one) => one.status === "rejected" && one.reason)).toMatchObject(asked.map(() => missing));
  expect(await names()).toEqual(["a"]);
});
