import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { giveUpObjects } from "../objects/objects.sql.ts";
import {
  callOf,
  json,
  startArtifacts,
  storageOf,
  text,
  type ArtifactsFixture,
  type Tenant,
} from "../artifacts.fixture.ts";

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

const input = { name: "policy.pt", type: "checkpoint", mimeType: "application/octet-stream" };
const external = (fields: object = {}) =>
  fixture.client.createArtifact({ runId, artifact: input, uri: "s3://bucket/policy.pt", ...fields }, callOf(tenant));
const store = async (fields: object = {}, content?: string) =>
  fixture.client.storeArtifact(
    { runId, artifact: input, object: await fixture.written(tenant, content), ...fields },
    callOf(tenant),
  );
const list = async (limit = 1000) => (await fixture.client.listArtifacts({ runId, limit }, callOf(tenant))).artifacts;
const objectState = async (objectId: string) =>
  (await fixture.ask("SELECT state, refs FROM artifacts.objects WHERE id = $1", objectId))[0];
const consistent = async () => {
  const { counters, counted } = await storageOf(fixture, tenant);
  expect(counters).toEqual(counted);
};

describe("an artifact whose bytes are elsewhere", () => {
  test("is read back as it was sent", async () => {
    const { artifact } = await external({
      artifact: { ...input, step: 12.5, metadataJson: json('{"seed":12345678901234567890,"a":1.50}') },
      sizeBytes: 2048n,
      sha256: "whatever",
    });
    expect(artifact).toMatchObject({
      orgId: tenant.orgId,
      runId,
      type: "checkpoint",
      name: "policy.pt",
      uri: "s3://bucket/policy.pt",
      step: 12.5,
      sizeBytes: 2048n,
      sha256: "whatever",
      mimeType: "application/octet-stream",
      storageBackend: "external",
    });
    expect(text(artifact!.metadataJson)).toBe('{"a":1.50,"seed":12345678901234567890}');
    expect(artifact!.createdAt).toMatch(/^\d{4}-\d\d-\d\dT.*Z$/);
    expect(await list()).toEqual([artifact]);
  });

  test("has neither step nor size nor hash unless they are sent, and counts no bytes", async () => {
    const { artifact } = await external();
    expect([artifact!.step, artifact!.sizeBytes, artifact!.sha256]).toEqual([undefined, undefined, undefined]);
    expect(text(artifact!.metadataJson)).toBe("{}");
    expect(await fixture.client.getStorage({}, callOf(tenant))).toMatchObject({ activeBytes: 0n, artifacts: 1n });
    await consistent();
  });

  test.each([
    ["an unknown type", { artifact: { ...input, type: "model" } }, "type"],
    ["an empty name", { artifact: { ...input, name: "" } }, "name"],
    ["a name of 513 bytes", { artifact: { ...input, name: `${"é".repeat(256)}x` } }, "name"],
    ["a negative step", { artifact: { ...input, step: -1 } }, "step"],
    ["a step that is not finite", { artifact: { ...input, step: Number.NaN } }, "step"],
    ["metadata that is a list", { artifact: { ...input, metadataJson: json("[]") } }, "metadata"],
    ["an empty address", { uri: "" }, "uri"],
    ["an address of 513 bytes", { uri: "x".repeat(513) }, "uri"],
    ["a size beyond 2^53", { sizeBytes: 2n ** 53n }, "size_bytes"],
    ["a fault that the gateway found", { bodyFault: { text: "no", field: "step" } }, "step"],
  ])("with %s is 400", async (_what, fields, field) => {
    await expect(external(fields)).rejects.toMatchObject({ reason: "bad_request", field });
    expect(await list()).toEqual([]);
  });

  test("a name and an address of 512 bytes are accepted", async () => {
    const name = "é".repeat(256);
    const { artifact } = await external({ artifact: { ...input, name }, uri: "x".repeat(512) });
    expect(artifact!.name).toBe(name);
  });

  test("has no bytes to locate", async () => {
    const { artifact } = await external();
    await expect(fixture.client.locateArtifact({ artifactId: artifact!.id }, callOf(tenant))).rejects.toMatchObject({
      reason: "not_found",
      message: "artifact not found",
    });
  });
});

describe("an artifact whose bytes are kept here", () => {
  test("says where they are", async () => {
    const object = await fixture.written(tenant, "hello");
    const { artifact, replayed } = await store({ object });
    expect(replayed).toBe(false);
    expect(artifact).toMatchObject({
      uri: `instantml://artifacts/${artifact!.id}`,
      sizeBytes: 5n,
      sha256: "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824",
      storageBackend: "local",
    });
    expect(await fixture.client.locateArtifact({ artifactId: artifact!.id }, callOf(tenant))).toMatchObject({
      objectId: object.objectId,
      sizeBytes: 5n,
      mimeType: input.mimeType,
      name: input.name,
    });
    expect(await objectState(object.objectId)).toEqual({ state: "stored", refs: 1 });
    await consistent();
  });

  test("may be empty", async () => {
    expect((await store({}, "")).artifact?.sizeBytes).toBe(0n);
    await consistent();
  });

  test("shares them with another one of the same content, and each counts", async () => {
    const first = await fixture.written(tenant, "same");
    const second = await fixture.written(tenant, "same");
    const { artifact } = await store({ object: first });
    const { artifact: other } = await store({ object: second });
    expect(await objectState(first.objectId)).toEqual({ state: "stored", refs: 2 });
    expect(await objectState(second.objectId)).toEqual({ state: "unneeded", refs: 0 });
    expect(await fixture.client.locateArtifact({ artifactId: other!.id }, callOf(tenant))).toMatchObject({
      objectId: first.objectId,
    });
    expect(await fixture.client.getStorage({}, callOf(tenant))).toMatchObject({ activeBytes: 8n, artifacts: 2n });

    await fixture.client.deleteArtifact({ artifactId: artifact!.id }, callOf(tenant));
    expect(await objectState(first.objectId)).toEqual({ state: "stored", refs: 1 });
    expect(await fixture.client.getStorage({}, callOf(tenant))).toMatchObject({
      activeBytes: 4n,
      pendingDeleteBytes: 0n,
    });
    await fixture.client.deleteArtifact({ artifactId: other!.id }, callOf(tenant));
    expect(await objectState(first.objectId)).toEqual({ state: "unneeded", refs: 0 });
    expect(await fixture.client.getStorage({}, callOf(tenant))).toMatchObject({
      activeBytes: 0n,
      pendingDeleteBytes: 4n,
    });
    await consistent();
  });

  test("is never made of the bytes of another organization", async () => {
    const other = await fixture.newTenant();
    const object = await fixture.written(other, "secret");
    await expect(store({ object })).rejects.toMatchObject({ reason: "service_unavailable" });
    const mine = await fixture.written(tenant, "secret");
    await store({ object: mine });
    expect(await objectState(mine.objectId)).toEqual({ state: "stored", refs: 1 });
    expect(await objectState(object.objectId)).toEqual({ state: "arriving", refs: 0 });
  });

  test("whose object was abandoned in the meantime is 503 and leaves nothing", async () => {
    const object = await fixture.written(tenant);
    await fixture.db.withTenant(tenant.orgId, (tx) => giveUpObjects(tx, tenant.orgId, [object.objectId]));
    await expect(store({ object, idempotencyKey: "k" })).rejects.toMatchObject({
      reason: "service_unavailable",
      retryAfterSeconds: 1,
    });
    expect(await list()).toEqual([]);
    expect((await store({ idempotencyKey: "k" })).replayed).toBe(false);
  });

  test.each([
    ["no object", { object: undefined }],
    ["an object without a hash", { object: { objectId: randomUUID(), sizeBytes: 1n } }],
    ["an object whose id is none", { object: { objectId: "x", sizeBytes: 1n, sha256: new Uint8Array(32) } }],
  ])("with %s is 400", async (_what, fields) => {
    await expect(store(fields)).rejects.toMatchObject({ reason: "bad_request", field: "content_base64" });
  });
});

describe("a repeat under one key", () => {
  const keyed = { idempotencyKey: "upload-1" };

  test("gets the first answer, and its object is given up", async () => {
    const first = await store({ ...keyed, artifact: { ...input, metadataJson: json('{"a":1,"b":2}') } }, "content");
    const object = await fixture.written(tenant, "content");
    const metadataJson = json('{ "b": 2.0, "a": 1 }');
    const second = await store({ ...keyed, object, artifact: { ...input, metadataJson } });
    expect(second).toEqual({ ...first, replayed: true });
    expect(await objectState(object.objectId)).toEqual({ state: "unneeded", refs: 0 });
    expect(await list()).toHaveLength(1);
    await consistent();
  });

  test("that names the same object keeps it", async () => {
    const object = await fixture.written(tenant);
    await store({ ...keyed, object });
    expect((await store({ ...keyed, object })).replayed).toBe(true);
    expect(await objectState(object.objectId)).toEqual({ state: "stored", refs: 1 });
  });

  test.each([
    ["content", {}, "other"],
    ["name", { artifact: { ...input, name: "other" } }, "content"],
    ["step", { artifact: { ...input, step: 1 } }, "content"],
    ["metadata", { artifact: { ...input, metadataJson: json('{"a":1}') } }, "content"],
  ])("with another %s is 409", async (_what, fields, content) => {
    await store(keyed, "content");
    await expect(store({ ...keyed, ...fields }, content)).rejects.toMatchObject({ reason: "idempotency_key_reused" });
  });

  test("of another run is 409, and of a run that the caller cannot see 404", async () => {
    await store(keyed, "content");
    await expect(store({ ...keyed, runId: await fixture.newRun(tenant) }, "content")).rejects.toMatchObject({
      reason: "idempotency_key_reused",
    });
    const elsewhere = callOf(tenant, { projectId: await fixture.newProject(tenant.orgId) });
    const object = await fixture.written(tenant, "content");
    await expect(
      fixture.client.storeArtifact({ runId, artifact: input, object, ...keyed }, elsewhere),
    ).rejects.toMatchObject({ reason: "not_found" });
  });

  test("while the first is under way makes one artifact", async () => {
    const answers = await Promise.all(Array.from({ length: 8 }, () => store(keyed, "content")));
    expect(new Set(answers.map(({ artifact }) => artifact!.id)).size).toBe(1);
    expect(answers.filter(({ replayed }) => !replayed)).toHaveLength(1);
    await consistent();
  });
});

describe("the list of a run", () => {
  test("has the newest first, 100 unless more are requested, and those of this run only", async () => {
    const other = await fixture.newRun(tenant);
    await external({ runId: other });
    await fixture.ask(
      `INSERT INTO artifacts.artifacts (org_id, id, run_id, project_id, type, name, uri, mime_type, storage_backend, metadata, created_at)
       SELECT $1, gen_random_uuid(), $2, $3, 'file', n::text, 'u', 'm', 'external', '{}', now() - n * interval '1 minute'
       FROM generate_series(1, 1001) n`,
      tenant.orgId,
      runId,
      tenant.projectId,
    );
    expect((await list(0)).map(({ name }) => name)).toEqual(Array.from({ length: 100 }, (_, i) => String(i + 1)));
    expect(await list(1000)).toHaveLength(1000);
    expect(await list(5000)).toHaveLength(1000);
    expect(await list(1)).toMatchObject([{ name: "1" }]);
  });

  test("continues from its cursor, and ends a page after 16 MiB of metadata", async () => {
    const metadataJson = json(`{"a":"${"x".repeat(999_000)}"}`);
    for (let i = 0; i < 18; i += 1) await external({ artifact: { ...input, metadataJson } });
    const page = (cursor: string) => fixture.client.listArtifacts({ runId, limit: 1000, cursor }, callOf(tenant));
    const first = await page("");
    const second = await page(first.nextCursor);
    expect([first.artifacts.length, second.artifacts.length, second.nextCursor]).toEqual([16, 2, ""]);
    expect(new Set([...first.artifacts, ...second.artifacts].map(({ id }) => id)).size).toBe(18);
    await expect(page("x")).rejects.toMatchObject({ reason: "bad_request", field: "cursor" });
  });

  test("with a fault of the query is 400", async () => {
    const queryFault = { text: "no", field: "limit" };
    await expect(fixture.client.listArtifacts({ runId, queryFault }, callOf(tenant))).rejects.toMatchObject({
      reason: "bad_request",
      field: "limit",
    });
  });
});

describe("artifacts that the caller may not see", () => {
  const hidden: [string, () => Promise<string>][] = [
    ["does not exist", async () => randomUUID()],
    ["has an id that is none", async () => "x"],
    ["is another organization's", async () => fixture.newRun(await fixture.newTenant())],
    ["lies in another project", async () => fixture.newRun(tenant, await fixture.newProject(tenant.orgId))],
  ];
  test.each(hidden)("a run that %s is 404 everywhere, even with other faults", async (_what, idOf) => {
    const call = callOf(tenant, { projectId: tenant.projectId });
    const id = await idOf();
    const fault = { text: "no", field: "name" };
    for (const refused of [
      () => fixture.client.createArtifact({ runId: id, bodyFault: fault }, call),
      () => fixture.client.storeArtifact({ runId: id, bodyFault: fault }, call),
      () => fixture.client.listArtifacts({ runId: id, queryFault: fault }, call),
      () => fixture.client.reserveObjects({ owner: { case: "runId", value: id }, count: 999 }, call),
    ]) {
      await expect(refused()).rejects.toMatchObject({ reason: "not_found", message: "run not found" });
    }
  });

  test("an artifact of another organization or project is 404 like a missing one", async () => {
    const { artifact } = await store();
    const callers = [
      callOf(await fixture.newTenant()),
      callOf(tenant, { projectId: await fixture.newProject(tenant.orgId) }),
    ];
    const notFound = { reason: "not_found", message: "artifact not found" };
    for (const call of callers) {
      await expect(fixture.client.locateArtifact({ artifactId: artifact!.id }, call)).rejects.toMatchObject(notFound);
      await expect(fixture.client.deleteArtifact({ artifactId: artifact!.id }, call)).rejects.toMatchObject(notFound);
    }
    for (const artifactId of [randomUUID(), "x"]) {
      await expect(fixture.client.locateArtifact({ artifactId }, callOf(tenant))).rejects.toMatchObject(notFound);
      await expect(fixture.client.deleteArtifact({ artifactId }, callOf(tenant))).rejects.toMatchObject(notFound);
    }
    const upper = artifact!.id.toUpperCase();
    expect(await fixture.client.locateArtifact({ artifactId: upper }, callOf(tenant))).toMatchObject({
      name: input.name,
    });
  });
});

describe("a deletion", () => {
  test("answers with the artifact as it was; a repeat is 404", async () => {
    const { artifact } = await store({}, "bytes");
    const { artifact: deleted } = await fixture.client.deleteArtifact({ artifactId: artifact!.id }, callOf(tenant));
    expect(deleted).toEqual(artifact);
    await expect(fixture.client.deleteArtifact({ artifactId: artifact!.id }, callOf(tenant))).rejects.toMatchObject({
      reason: "not_found",
    });
    expect(await list()).toEqual([]);
    await consistent();
  });

  test("by several callers happens once", async () => {
    const artifacts = await Promise.all([store({}, "x"), store({}, "x"), external()]);
    const ids = artifacts.flatMap(({ artifact }) => Array.from({ length: 5 }, () => artifact!.id));
    const results = await Promise.allSettled(
      ids.map((artifactId) => fixture.client.deleteArtifact({ artifactId }, callOf(tenant))),
    );
    expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(3);
    expect(results.filter((r) => r.status === "rejected" && r.reason.reason !== "not_found")).toEqual([]);
    await consistent();
  });
});

test("a run's counters know its artifacts by type", async () => {
  for (const type of ["checkpoint", "rollout", "file", "file", "checkpoint", "file"]) {
    await external({ artifact: { ...input, type } });
  }
  const { artifact } = await store({ artifact: { ...input, type: "rollout" } });
  const counts = () =>
    fixture.ask("SELECT checkpoints, rollouts, files FROM artifacts.run_counts WHERE run_id = $1", runId);
  expect(await counts()).toEqual([{ checkpoints: 2, rollouts: 2, files: 3 }]);
  await fixture.client.deleteArtifact({ artifactId: artifact!.id }, callOf(tenant));
  expect(await counts()).toEqual([{ checkpoints: 2, rollouts: 1, files: 3 }]);
});

describe("objects", () => {
  const reserve = (owner: { case: "runId" | "uploadSessionId"; value: string }, count = 1) =>
    fixture.client.reserveObjects({ owner, count }, callOf(tenant));

  test("are reserved for a run, and swept after an hour", async () => {
    const { objectIds } = await reserve({ case: "runId", value: runId }, 64);
    expect(new Set(objectIds).size).toBe(64);
    const rows = await fixture.ask<{ state: string; minutes: number }>(
      `SELECT DISTINCT state, round(extract(epoch FROM sweep_after - now()) / 60)::integer AS minutes
       FROM artifacts.objects WHERE id = ANY ($1)`,
      objectIds,
    );
    expect(rows).toEqual([{ state: "arriving", minutes: 60 }]);
  });

  test.each([0, 65])("of a number of %d are refused", async (count) => {
    await expect(reserve({ case: "runId", value: runId }, count)).rejects.toMatchObject({
      reason: "bad_request",
      field: "count",
    });
  });

  test("need an owner", async () => {
    await expect(fixture.client.reserveObjects({ count: 1 }, callOf(tenant))).rejects.toMatchObject({
      reason: "bad_request",
    });
  });

  const newSession = async (state: string, minutes = 60, of: Tenant = tenant) => {
    const id = randomUUID();
    await fixture.ask(
      `INSERT INTO artifacts.upload_sessions (org_id, id, run_id, project_id, collection_id, version_id, digest, aliases,
                                              part_size_bytes, state, expires_at, result_version_id)
       VALUES ($1, $2, $3, $4, gen_random_uuid(), gen_random_uuid(), sha256('x'), '{}', 1, $5::text,
               now() + $6 * interval '1 minute', CASE WHEN $5::text IN ('active', 'deduplicated') THEN gen_random_uuid() END)`,
      of.orgId,
      id,
      runId,
      of.projectId,
      state,
      minutes,
    );
    return id;
  };

  test.each([
    ["uploading", 60, undefined],
    ["uploading", -1, "gone"],
    ["completing", -1, undefined],
    ["provider_completed", 60, undefined],
    ["active", -1, undefined],
    ["deduplicated", 60, undefined],
    ["failed", -1, "conflict"],
  ])("for an upload that is %s and ends in %d minutes: %s", async (state, minutes, reason) => {
    const reserved = reserve({ case: "uploadSessionId", value: await newSession(state, minutes) });
    if (reason === undefined) expect((await reserved).objectIds).toHaveLength(1);
    else await expect(reserved).rejects.toMatchObject({ reason });
  });

  test("for an upload that the caller may not see are 404", async () => {
    const foreign = await newSession("uploading", 60, await fixture.newTenant());
    const elsewhere = await newSession("failed", 60, {
      ...tenant,
      projectId: await fixture.newProject(tenant.orgId),
    });
    const call = callOf(tenant, { projectId: tenant.projectId });
    for (const value of [foreign, elsewhere, randomUUID(), "x"]) {
      const owner = { case: "uploadSessionId" as const, value };
      await expect(fixture.client.reserveObjects({ owner, count: 0 }, call)).rejects.toMatchObject({
        reason: "not_found",
        message: "upload session not found",
      });
    }
  });
});
