import { testSql } from "@tidemark/testkit";
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { createDb, type Db } from "@tidemark/pg";
import { type ArtifactsFixture, callOf, startArtifacts, storageOf, type Tenant } from "../artifacts.fixture.ts";
import { sweep } from "../sweep/sweep.ts";
import { beginning, content } from "../uploads/uploads.fixture.ts";
import { addStorage } from "./storage.sql.ts";

let fixture: ArtifactsFixture;
beforeAll(async () => {
  fixture = await startArtifacts();
});
afterAll(() => fixture.close());

const slotsOf = ({ orgId }: Tenant) =>
  fixture.ask<{ slot: number; artifacts: number }>(
    "SELECT slot, artifacts FROM artifacts.storage WHERE org_id = $1 ORDER BY slot",
    orgId,
  );
const expectExact = async (tenant: Tenant) => {
  const { counters, counted } = await storageOf(fixture, tenant);
  expect(counters).toEqual(counted);
  return counters as Record<string, number>;
};
/** Makes everything with a deadline due, and sweeps. */
const sweepAll = async ({ orgId }: Tenant) => {
  await fixture.ask(
    "UPDATE artifacts.upload_sessions SET expires_at = now() - interval '1 s' WHERE org_id = $1",
    orgId,
  );
  await fixture.ask("UPDATE artifacts.versions SET purge_after = now() - interval '1 s' WHERE purge_after IS NOT NULL");
  for (let turn = 0; turn < 2; turn += 1) {
    await fixture.ask("UPDATE artifacts.objects SET sweep_after = now() - interval '1 s' WHERE state <> 'stored'");
    await sweep({ ...fixture.deps });
  }
};

test("simultaneous writes are counted exactly, in several slots; deletes and sweeps subtract again", async () => {
  const tenant = await fixture.newTenant();
  const call = callOf(tenant);
  const runId = await fixture.newRun(tenant);
  const collections = await Promise.all(["a", "b", "c"].map((name) => fixture.newCollection(tenant, { name })));
  const artifact = { name: "n", type: "file", mimeType: "m" };
  const clients = [fixture.client, fixture.newProcess(), fixture.newProcess()];
  const each = Array.from({ length: 12 }, (_, i) => i);
  const made = await Promise.all(
    each.map(async (i) => {
      const client = clients[i % clients.length]!;
      const plain = await client.storeArtifact({ runId, artifact, object: await fixture.written(tenant) }, call);
      const external = await client.createArtifact({ runId, artifact, uri: "u" }, call);
      const begun = await client.beginUpload(beginning(runId, [content("f", 1000 + i)]), call);
      const version = await fixture.storeVersion(tenant, collections[i % 3]!, { sourceRunId: runId });
      return { client, artifacts: [plain, external].map((answer) => answer.artifact!.id), begun, version };
    }),
  );
  const full = await expectExact(tenant);
  expect(full).toMatchObject({ artifacts: 24, unknown_sizes: 12, versions_active: 12, collections: 4 });
  expect(full["reserved_bytes"]).toBe(each.reduce((sum, i) => sum + 1000 + i, 0));
  expect((await slotsOf(tenant)).length).toBeGreaterThan(1);

  await Promise.all(
    made.map(async ({ client, artifacts, begun, version }, i) => {
      for (const artifactId of artifacts) await client.deleteArtifact({ artifactId }, call);
      await client.deleteVersion({ versionId: version.id, confirm: version.id, reason: "r" }, call);
      if (i % 2 === 0) await client.abortUpload({ uploadSessionId: begun.session!.id }, call);
    }),
  );
  const deleted = await expectExact(tenant);
  expect(deleted).toMatchObject({ artifacts: 0, unknown_sizes: 0, artifact_bytes: 0, version_bytes: 0 });
  expect(deleted["pending_delete_bytes"]).toBeGreaterThan(0);
  await sweepAll(tenant);
  const swept = await fixture.ask<Record<string, number>>(
    `SELECT artifact_bytes, version_bytes, pending_delete_bytes, reserved_bytes, artifacts, versions_active, versions_pending_delete
     FROM artifacts.usage_v1 WHERE org_id = $1`,
    tenant.orgId,
  );
  expect(Object.values(swept[0]!)).toEqual([0, 0, 0, 0, 0, 0, 0]);
});

test("a writer in another connection does not wait for one that has not ended", async () => {
  const tenant = await fixture.newTenant();
  const { orgId } = tenant;
  // Sixteen connections whose numbers follow each other would be sixteen slots; these are at least two.
  await fixture.db.withTenant(orgId, async (first) => {
    await addStorage(first, orgId, { artifacts: 1 });
    const [own] = await slots(first, orgId);
    let written = false;
    for (let turn = 0; turn < 20 && !written; turn += 1) {
      written = await fixture.db.withTenant(orgId, async (second) => {
        const [{ slot }] = (await second.rows<{ slot: number }>(ownSlot, [])) as [{ slot: number }];
        if (slot === own) return false;
        await addStorage(second, orgId, { artifacts: 1 });
        return true;
      });
    }
    expect(written).toBe(true);
  });
  expect((await slotsOf(tenant)).map(({ artifacts }) => artifacts)).toEqual([1, 1]);
});
const ownSlot = testSql("SELECT pg_backend_pid() % 16 AS slot");
const allSlots = testSql("SELECT slot FROM artifacts.storage WHERE org_id = $1");
const slots = async (tx: Pick<Db, "rows">, orgId: string): Promise<number[]> =>
  (await tx.rows<{ slot: number }>(allSlots, [orgId])).map(({ slot }) => slot);

test("one slot may be negative, the sum is not", async () => {
  const tenant = await fixture.newTenant();
  await fixture.ask(
    `INSERT INTO artifacts.storage (org_id, slot, artifacts, artifact_bytes) VALUES ($1, 1, 5, 50), ($1, 2, -3, -20)`,
    tenant.orgId,
  );
  expect(await fixture.client.getStorage({}, callOf(tenant))).toMatchObject({ artifacts: 2n, activeBytes: 30n });
});

describe("the role of the service of usage", () => {
  let usage: Db;
  let tenant: Tenant;
  beforeAll(async () => {
    usage = createDb({ url: fixture.url, role: "tidemark_usage", application: "test", connectionsMax: 1 });
    tenant = await fixture.newTenant();
    for (const { orgId } of [tenant, await fixture.newTenant()]) {
      await fixture.db.withTenant(orgId, (tx) => addStorage(tx, orgId, { artifacts: 3, reservedBytes: 7 }));
    }
  });
  afterAll(() => usage.close());

  test("sees what its organization keeps, and of others nothing", async () => {
    const all = testSql("SELECT org_id, artifacts, reserved_bytes FROM artifacts.usage_v1");
    expect(await usage.readTenant(tenant.orgId, (tx) => tx.rows(all, []))).toEqual([
      { org_id: tenant.orgId, artifacts: 3, reserved_bytes: 7 },
    ]);
    expect(await usage.readTenant(randomUUID(), (tx) => tx.rows(all, []))).toEqual([]);
    await expect(usage.rows(all, [])).rejects.toThrow(/app\.org_id|uuid/);
  });

  test.each([
    ["UPDATE artifacts.storage SET artifacts = 0"],
    ["SELECT artifacts.add_storage(gen_random_uuid(), 0, 0, 0, 0, 0, 0, 0, 0, 0)"],
    ["SELECT id FROM artifacts.artifacts"],
    ["SELECT id FROM artifacts.versions"],
  ])("cannot: %s", async (statement) => {
    const denied = usage.withTenant(tenant.orgId, (tx) => tx.rows(testSql(statement), []));
    await expect(denied).rejects.toThrow(/permission denied/);
  });
});
