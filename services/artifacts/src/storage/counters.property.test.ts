import { afterAll, beforeAll, expect, test } from "@jest/globals";
import fc from "fast-check";
import { callOf, startArtifacts, storageOf, type ArtifactsFixture } from "../artifacts.fixture.ts";

let fixture: ArtifactsFixture;
beforeAll(async () => {
  fixture = await startArtifacts();
});
afterAll(() => fixture.close());

// Few different contents, so that equal ones are common.
const content = fc.constantFrom("", "a", "bb", "cccc");
const nth = fc.nat({ max: 20 });
const action = fc.oneof(
  fc.record({ do: fc.constant("create" as const) }),
  fc.record({ do: fc.constant("store" as const), content }),
  fc.record({ do: fc.constant("delete" as const), nth }),
  fc.record({
    do: fc.constant("version" as const),
    collection: fc.nat({ max: 1 }),
    contents: fc.array(content, { maxLength: 3 }),
  }),
  fc.record({ do: fc.constant("delete version" as const), nth }),
  fc.record({ do: fc.constant("expire" as const), nth }),
);

const collectionCounters = (orgId: string) =>
  fixture.ask<Record<string, number>>(
    `SELECT c.versions_active, c.bytes_active, c.bytes_pending_delete, count(v.id) FILTER (WHERE v.state = 'active') AS active,
            coalesce(sum(v.size_bytes) FILTER (WHERE v.state = 'active'), 0)::bigint AS bytes,
            coalesce(sum(v.size_bytes) FILTER (WHERE v.state <> 'active'), 0)::bigint AS pending
     FROM artifacts.collections c LEFT JOIN artifacts.versions v ON v.collection_id = c.id WHERE c.org_id = $1 GROUP BY c.org_id, c.id`,
    orgId,
  );

test("after any calls, all counters match the tables", async () => {
  const shown = fc.asyncProperty(fc.array(action, { maxLength: 25 }), async (actions) => {
    const tenant = await fixture.newTenant();
    const call = callOf(tenant);
    const runId = await fixture.newRun(tenant);
    const collections = [await fixture.newCollection(tenant), await fixture.newCollection(tenant, { name: "other" })];
    const artifact = { name: "n", type: "file", mimeType: "m" };
    const artifacts: string[] = [];
    const versions: Awaited<ReturnType<ArtifactsFixture["storeVersion"]>>[] = [];
    for (const step of actions) {
      switch (step.do) {
        case "create":
          artifacts.push(
            (await fixture.client.createArtifact({ runId, artifact, uri: "u", sizeBytes: 9n }, call)).artifact!.id,
          );
          break;
        case "store": {
          const object = await fixture.written(tenant, step.content);
          artifacts.push((await fixture.client.storeArtifact({ runId, artifact, object }, call)).artifact!.id);
          break;
        }
        case "delete": {
          const [artifactId] = artifacts.splice(step.nth % (artifacts.length || 1), 1);
          if (artifactId !== undefined) await fixture.client.deleteArtifact({ artifactId }, call);
          break;
        }
        case "version": {
          const files = step.contents.map((bytes, i) => ({ path: `f${i}`, content: bytes }));
          const all = [...files, { path: "ref", referenceUri: "s3://x" }];
          versions.push(await fixture.storeVersion(tenant, collections[step.collection]!, { files: all }));
          break;
        }
        case "delete version": {
          const id = versions[step.nth % (versions.length || 1)]?.id;
          if (id !== undefined) await fixture.client.deleteVersion({ versionId: id, confirm: id, reason: "r" }, call);
          break;
        }
        case "expire": {
          const version = versions[step.nth % (versions.length || 1)];
          if (version !== undefined) await fixture.expire(version);
        }
      }
    }
    const { counters, counted } = await storageOf(fixture, tenant);
    expect(counters).toEqual(counted);
    for (const row of await collectionCounters(tenant.orgId)) {
      expect([row["versions_active"], row["bytes_active"], row["bytes_pending_delete"]]).toEqual([
        row["active"],
        row["bytes"],
        row["pending"],
      ]);
    }
    const [runCounts] = await fixture.ask<{ files: number }>(
      "SELECT files FROM artifacts.run_counts WHERE run_id = $1",
      runId,
    );
    expect(runCounts?.files ?? 0).toBe(artifacts.length);
    const wrongRefs = await fixture.ask(
      `SELECT o.id, o.refs FROM artifacts.objects o WHERE o.org_id = $1 AND o.refs <>
         (SELECT count(*) FROM artifacts.artifacts a WHERE a.object_id = o.id) + (SELECT count(*) FROM artifacts.entries e WHERE e.object_id = o.id)`,
      tenant.orgId,
    );
    expect(wrongRefs).toEqual([]);
    const shownCollections = (await fixture.client.listCollections({}, call)).collections;
    const available = await fixture.ask<{ versions: number; bytes: number }>(
      `SELECT count(*) AS versions, coalesce(sum(size_bytes), 0)::bigint AS bytes FROM artifacts.versions
       WHERE org_id = $1 AND state = 'active' AND (expires_at IS NULL OR expires_at > now())`,
      tenant.orgId,
    );
    const sum = (values: readonly (number | bigint)[]) => values.reduce<number>((all, value) => all + Number(value), 0);
    expect(sum(shownCollections.map(({ versionsCount }) => versionsCount))).toBe(available[0]!.versions);
    expect(sum(shownCollections.map(({ retainedBytes }) => retainedBytes))).toBe(available[0]!.bytes);
    const storage = await fixture.client.getStorage({}, call);
    expect(Number(storage.versionsActive)).toBe(available[0]!.versions);
  });
  await fc.assert(shown, { numRuns: 25 });
});

test("an organization that never kept anything has zeros", async () => {
  expect(await fixture.client.getStorage({}, callOf(await fixture.newTenant()))).toMatchObject({
    activeBytes: 0n,
    pendingDeleteBytes: 0n,
    reservedBytes: 0n,
    artifacts: 0n,
    collections: 0n,
    versionsActive: 0n,
    versionsPendingDelete: 0n,
  });
});
