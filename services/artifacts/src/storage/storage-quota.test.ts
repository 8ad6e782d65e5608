import { randomBytes, randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { createPlanGate } from "@tidemark/requests";
import { parsePlans, ROW_BYTES } from "@tidemark/limits";
import type { Call } from "@tidemark/rpc";
import { createLog } from "@tidemark/telemetry";
import {
  callOf,
  CONNECTIONS,
  startArtifacts,
  type ArtifactsClient,
  type ArtifactsFixture,
  type Tenant,
} from "../artifacts.fixture.ts";
import { beginning, content } from "../uploads/uploads.fixture.ts";

const LIMIT = 10_000;
const exceeded = { reason: "plan_limit_exceeded" };
const unpaid = { reason: "payment_required" };
const artifact = { name: "n", type: "file", mimeType: "m" };

let fixture: ArtifactsFixture;
let client: ArtifactsClient;
let tenant: Tenant;
let call: Call;
let runId: string;
beforeAll(async () => {
  fixture = await startArtifacts();
});
afterAll(() => fixture.close());

/** Bytes that count against the quota, added up like in the usage service. */
const usedBy = async (orgId: string): Promise<number> => {
  const [row] = await fixture.ask<{ used: number }>(
    `SELECT artifact_bytes + version_bytes + pending_delete_bytes + reserved_bytes + $2 * artifacts AS used FROM artifacts.usage_v1 WHERE org_id = $1`,
    orgId,
    ROW_BYTES.artifacts,
  );
  return row?.used ?? 0;
};
/** Everything that a refused request might leave in an organization. */
const keptOf = (orgId: string) =>
  fixture.ask(
    `SELECT (SELECT count(*) FROM artifacts.artifacts WHERE org_id = $1) AS artifacts,
            (SELECT count(*) FROM artifacts.upload_sessions WHERE org_id = $1) AS sessions,
            (SELECT count(*) FROM artifacts.upload_files WHERE org_id = $1) AS files,
            (SELECT count(*) FROM artifacts.collections WHERE org_id = $1) AS collections,
            (SELECT count(*) FROM artifacts.objects WHERE org_id = $1) AS objects`,
    orgId,
  );
const newClient = () =>
  fixture.newProcess({
    gate: createPlanGate({
      target: "storage",
      plans: parsePlans(`{"free": {"included_storage_bytes": ${LIMIT}}}`),
      readUsed: usedBy,
      nowMs: () => performance.now(),
      log: createLog({ level: "error", service: "test" }),
    }),
  });
/** An object with these bytes in the store, as a gateway has written it. */
const written = async (size: number) => {
  const bytes = randomBytes(size);
  const object = await fixture.written(tenant, bytes);
  async function* body() {
    yield bytes;
  }
  await fixture.deps.blob.put(fixture.deps.blob.keyOf(tenant.orgId, object.objectId), body());
  return object;
};
const storedBytes = async (objectId: string): Promise<number | undefined> =>
  (await fixture.deps.blob.head(fixture.deps.blob.keyOf(tenant.orgId, objectId)))?.sizeBytes;
/** Fills the organization until this many bytes are left. */
const fill = async (left: number) => {
  const size = LIMIT - left - ROW_BYTES.artifacts - (await usedBy(tenant.orgId));
  await fixture.client.storeArtifact(
    { runId, artifact, object: await fixture.written(tenant, randomBytes(size)) },
    call,
  );
  expect(await usedBy(tenant.orgId)).toBe(LIMIT - left);
};

beforeEach(async () => {
  tenant = await fixture.newTenant();
  runId = await fixture.newRun(tenant);
  call = callOf(tenant);
  client = newClient();
});

describe("plain artifacts", () => {
  test("fit to the byte; of one that is larger neither rows nor bytes stay", async () => {
    await fill(1000 + ROW_BYTES.artifacts);
    const before = await keptOf(tenant.orgId);
    const object = await written(1001);
    expect(await storedBytes(object.objectId)).toBe(1001);
    await expect(client.storeArtifact({ runId, artifact, object }, call)).rejects.toMatchObject(exceeded);
    expect(await keptOf(tenant.orgId)).toEqual(before);
    expect(await storedBytes(object.objectId)).toBeUndefined();
    await client.storeArtifact({ runId, artifact, object: await written(1000) }, call);
    expect(await usedBy(tenant.orgId)).toBe(LIMIT);
    await expect(client.createArtifact({ runId, artifact, uri: "u", sizeBytes: 1n }, call)).rejects.toMatchObject(
      exceeded,
    );
  });

  test("whose bytes are elsewhere count as rows, regardless of the size that they name", async () => {
    await fill(2 * ROW_BYTES.artifacts);
    for (const sizeBytes of [1_000_000_000n, undefined]) {
      await client.createArtifact({ runId, artifact, uri: "u", sizeBytes }, call);
    }
    expect(await usedBy(tenant.orgId)).toBe(LIMIT);
  });

  test("objects are named only for bytes that fit", async () => {
    await fill(1000);
    const before = await keptOf(tenant.orgId);
    const owner = { case: "runId" as const, value: runId };
    await expect(client.reserveObjects({ owner, count: 1, bytes: 1001n }, call)).rejects.toMatchObject(exceeded);
    expect(await keptOf(tenant.orgId)).toEqual(before);
    expect((await client.reserveObjects({ owner, count: 1, bytes: 1000n }, call)).objectIds).toHaveLength(1);
  });

  test("a repeat is answered at the limit, and what it brought is given up", async () => {
    await fill(1000 + ROW_BYTES.artifacts);
    const bytes = randomBytes(1000);
    const request = { runId, artifact, idempotencyKey: "again" };
    const first = await client.storeArtifact({ ...request, object: await fixture.written(tenant, bytes) }, call);
    const owner = { case: "runId" as const, value: runId };
    for (const [idempotencyKey, outcome] of [["another", exceeded] as const, ["", exceeded] as const]) {
      const asked = newClient().reserveObjects({ owner, count: 1, bytes: 1000n, writerKey: idempotencyKey }, call);
      await expect(asked).rejects.toMatchObject(outcome);
    }
    const repeated = { owner, count: 1, bytes: 1000n, writerKey: "again" };
    expect((await newClient().reserveObjects(repeated, call)).objectIds).toHaveLength(1);
    const again = await newClient().storeArtifact(
      { ...request, object: await fixture.written(tenant, bytes) },
      callOf(tenant, { billingState: "canceled" }),
    );
    expect(again).toMatchObject({ replayed: true, artifact: { id: first.artifact!.id } });
  });

  test("bad input and missing rows are reported before the quota", async () => {
    await fill(0);
    const object = await written(10);
    const missing = client.storeArtifact({ runId: randomUUID(), artifact, object }, call);
    await expect(missing).rejects.toMatchObject({ reason: "not_found" });
    const bad = client.storeArtifact({ runId, artifact: { ...artifact, type: "x" }, object }, call);
    await expect(bad).rejects.toMatchObject({ reason: "bad_request" });
    const nameless = client.createArtifact({ runId, artifact: { ...artifact, name: "" }, uri: "u" }, call);
    await expect(nameless).rejects.toMatchObject({ reason: "bad_request" });
  });

  test("wait for payment, and leave nothing", async () => {
    const late = callOf(tenant, { billingState: "canceled" });
    const before = await keptOf(tenant.orgId);
    const object = await written(10);
    await expect(client.storeArtifact({ runId, artifact, object }, late)).rejects.toMatchObject(unpaid);
    await expect(client.createArtifact({ runId, artifact, uri: "u" }, late)).rejects.toMatchObject(unpaid);
    const owner = { case: "runId" as const, value: runId };
    await expect(client.reserveObjects({ owner, count: 1, bytes: 1n }, late)).rejects.toMatchObject(unpaid);
    expect(await keptOf(tenant.orgId)).toEqual(before);
    expect(await storedBytes(object.objectId)).toBeUndefined();
  });
});

describe("uploads of versions", () => {
  const files = (...sizes: readonly number[]) => sizes.map((size, i) => content(`f${i}`, size));

  test("count from their beginning, all files together; what is refused leaves nothing, not even a collection", async () => {
    await fill(3000);
    const before = await keptOf(tenant.orgId);
    const late = callOf(tenant, { billingState: "canceled" });
    await expect(client.beginUpload(beginning(runId, files(2000, 1001)), call)).rejects.toMatchObject(exceeded);
    await expect(client.beginUpload(beginning(runId, files(1)), late)).rejects.toMatchObject(unpaid);
    expect(await keptOf(tenant.orgId)).toEqual(before);
    await client.beginUpload(beginning(runId, files(2000, 1000)), call);
    expect(await usedBy(tenant.orgId)).toBe(LIMIT);
  });

  test("a repeat under a key continues its upload at the limit", async () => {
    await fill(1000);
    const request = beginning(runId, files(1000), { idempotencyKey: "k" });
    const { session } = await client.beginUpload(request, call);
    expect(await newClient().beginUpload(request, call)).toMatchObject({
      replayed: true,
      session: { id: session!.id },
    });
  });

  test("references add no bytes", async () => {
    await fill(0);
    const entries = [{ path: "far", kind: "reference", referenceUri: "s3://b/far", mimeType: "m" }];
    expect((await client.beginUpload(beginning(runId, [], { entries }), call)).version).toBeDefined();
  });

  test("that begin simultaneously exceed the limit by no more than those that run at the same time; later ones are refused", async () => {
    const begin = (collectionName: string) =>
      client.beginUpload(beginning(runId, files(1000), { collectionName }), call);
    const answers = await Promise.allSettled(Array.from({ length: 60 }, (_, i) => begin(`c${i}`)));
    const begun = answers.filter(({ status }) => status === "fulfilled").length;
    expect(begun).toBeGreaterThanOrEqual(10);
    // This many transactions run at a time.
    expect(begun).toBeLessThanOrEqual(10 + CONNECTIONS);
    expect(await usedBy(tenant.orgId)).toBe(1000 * begun);
    await expect(begin("more")).rejects.toMatchObject(exceeded);
  });
});
