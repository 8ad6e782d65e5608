import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import type { Blob } from "@tidemark/blob";
import type { Call } from "@tidemark/rpc";
import { type ArtifactsFixture, callOf, startArtifacts, storageOf, type Tenant } from "../artifacts.fixture.ts";
import { beginning, content, type Content, sendFile, sendPart, upload } from "../uploads/uploads.fixture.ts";
import { startSweeper } from "./sweep.ts";

let fixture: ArtifactsFixture;
let tenant: Tenant;
let call: Call;
let runId: string;
beforeAll(async () => {
  fixture = await startArtifacts();
});
afterAll(() => fixture.close());
beforeEach(async () => {
  tenant = await fixture.newTenant();
  call = callOf(tenant);
  runId = await fixture.newRun(tenant);
});

const sweep = (dryRun = false) => fixture.client.sweep({ dryRun }, call);
const begin = (files: readonly Content[], more = {}) => fixture.client.beginUpload(beginning(runId, files, more), call);
const store = async (files: readonly Content[], more = {}) =>
  (await upload(fixture, tenant, call, await begin(files, more), files)).version!;
/** Ages everything in the organization that has a time, as if days had passed. */
const daysLater = async (days: number) => {
  const ago = `interval '${days} days'`;
  await fixture.ask(
    `UPDATE artifacts.upload_sessions SET expires_at = expires_at - ${ago}, created_at = created_at - ${ago},
       verified_until = verified_until - ${ago} WHERE org_id = $1`,
    tenant.orgId,
  );
  await fixture.ask(
    `UPDATE artifacts.versions SET expires_at = expires_at - ${ago}, purge_after = purge_after - ${ago} WHERE org_id = $1`,
    tenant.orgId,
  );
  await fixture.ask(`UPDATE artifacts.objects SET sweep_after = sweep_after - ${ago} WHERE org_id = $1`, tenant.orgId);
};
const objects = async () =>
  (
    await fixture.ask<{ id: string; state: string }>(
      "SELECT id, state FROM artifacts.objects WHERE org_id = $1",
      tenant.orgId,
    )
  )
    .map(({ state }) => state)
    .toSorted();
const stored = async () => {
  const keys: string[] = [];
  for await (const { key } of fixture.deps.blob.list(`o/${tenant.orgId}/`)) keys.push(key);
  return keys.length;
};
const counters = async () => {
  const result = await storageOf(fixture, tenant);
  expect(result.counters).toEqual(result.counted);
  return result.counters;
};
const deleteVersion = (versionId: string) =>
  fixture.client.deleteVersion({ versionId, deleteAliases: true, confirm: versionId, reason: "old" }, call);

describe("an upload that was not completed in time", () => {
  test("fails, and its bytes are removed once no address of it is valid any more", async () => {
    const file = content("a.bin", 300_000);
    const begun = await begin([file]);
    await sendPart(fixture, begun.files[0]!.parts[0]!.url, file.bytes);
    expect(await sweep()).toMatchObject({ sessions: 0n, objects: 0n });
    await daysLater(1 / 24);
    expect(await sweep(true)).toMatchObject({ sessions: 1n, objects: 0n });
    expect(await sweep()).toMatchObject({ sessions: 1n, objects: 0n });
    await expect(fixture.client.abortUpload({ uploadSessionId: begun.session!.id }, call)).resolves.toMatchObject({
      session: { state: "failed" },
    });
    expect(await objects()).toEqual(["unneeded"]);
    await daysLater(1 / 24);
    expect(await sweep()).toMatchObject({ sessions: 0n, objects: 1n });
    expect(await objects()).toEqual([]);
    await expect(sendPart(fixture, begun.files[0]!.parts[0]!.url, file.bytes)).rejects.toMatchObject({
      reason: "conflict",
    });
    await counters();
  });

  test("its row is removed after seven days", async () => {
    await begin([content("a", 1)]);
    await daysLater(1);
    await sweep();
    await daysLater(7);
    await sweep();
    expect(await fixture.ask("SELECT id FROM artifacts.upload_sessions WHERE org_id = $1", tenant.orgId)).toEqual([]);
  });
});

test("an unclaimed object is removed, with its bytes", async () => {
  const { objectIds } = await fixture.client.reserveObjects({ owner: { case: "runId", value: runId }, count: 1 }, call);
  await fixture.deps.blob.put(`o/${tenant.orgId}/${objectIds[0]}`, Buffer.from("orphan"));
  expect(await sweep()).toMatchObject({ objects: 0n });
  await daysLater(1);
  expect(await sweep(true)).toMatchObject({ objects: 1n });
  expect(await stored()).toBe(1);
  expect(await sweep()).toMatchObject({ objects: 1n, bytes: 6n });
  expect(await stored()).toBe(0);
  expect(await objects()).toEqual([]);
});

describe("a deleted version", () => {
  test("keeps its bytes for the grace period; then they go, and the storage of the organization drops", async () => {
    const version = await store([content("a.bin", 300_000), content("b.bin", 400_000)]);
    await deleteVersion(version.id);
    expect(await sweep()).toMatchObject({ versionsPurged: 0n, objects: 0n });
    expect(await counters()).toMatchObject({ version_bytes: 0, pending_delete_bytes: 700_000 });
    await daysLater(8);
    expect(await sweep(true)).toMatchObject({ versionsPurged: 1n });
    expect(await sweep()).toMatchObject({ versionsPurged: 1n, objects: 2n, bytes: 700_000n });
    expect(await stored()).toBe(0);
    const [row] = await fixture.ask(
      "SELECT pending_delete_bytes, versions_pending_delete FROM artifacts.usage_v1 WHERE org_id = $1",
      tenant.orgId,
    );
    expect(row).toEqual({ pending_delete_bytes: 0, versions_pending_delete: 0 });
    const { collections } = await fixture.client.listCollections({}, call);
    expect(collections).toMatchObject([{ versionsCount: 0, retainedBytes: 0n, pendingDeleteBytes: 0n }]);
  });

  test("leaves bytes that another version has", async () => {
    const file = content("a.bin", 300_000);
    const [first] = [await store([file]), await store([file], { collectionName: "other" })];
    await daysLater(1);
    await sweep();
    await deleteVersion(first.id);
    await daysLater(8);
    expect(await sweep()).toMatchObject({ versionsPurged: 1n, objects: 0n });
    expect(await stored()).toBe(1);
    expect(await objects()).toEqual(["stored"]);
  });

  test("owes its bytes until the store has removed them", async () => {
    const version = await store([content("a.bin", 300_000)]);
    await deleteVersion(version.id);
    await daysLater(8);
    const down: Blob = { ...fixture.deps.blob, remove: () => Promise.reject(new Error("the store is down")) };
    await expect(fixture.newProcess({ blob: down }).sweep({}, call)).rejects.toThrow("steps of a sweep failed");
    const pending = async () =>
      (await fixture.ask("SELECT pending_delete_bytes FROM artifacts.usage_v1 WHERE org_id = $1", tenant.orgId))[0];
    expect(await pending()).toEqual({ pending_delete_bytes: 300_000 });
    expect(await sweep()).toMatchObject({ objects: 1n });
    expect(await pending()).toEqual({ pending_delete_bytes: 0 });
  });
});

test("a version past its end is retired, and purged after the grace period", async () => {
  const version = await store([content("a.bin", 300_000)], { ttlDays: 1 });
  await daysLater(2);
  await expect(fixture.client.getVersion({ versionId: version.id }, call)).rejects.toMatchObject({ reason: "gone" });
  expect(await sweep(true)).toMatchObject({ versionsExpired: 1n });
  expect(await sweep()).toMatchObject({ versionsExpired: 1n, versionsPurged: 0n });
  expect(await counters()).toMatchObject({ version_bytes: 0, pending_delete_bytes: 300_000 });
  await daysLater(8);
  expect(await sweep()).toMatchObject({ versionsPurged: 1n, objects: 1n });
});

test("five sweeps at the same time do everything once", async () => {
  for (let i = 0; i < 5; i += 1)
    await deleteVersion((await store([content(`${i}.bin`, 300_000)], { collectionName: `c${i}` })).id);
  await daysLater(8);
  const all = await Promise.all(Array.from({ length: 5 }, () => fixture.newProcess().sweep({}, call)));
  const sum = (pick: (swept: (typeof all)[number]) => bigint) => all.reduce((total, swept) => total + pick(swept), 0n);
  expect(sum(({ versionsPurged }) => versionsPurged)).toBe(5n);
  expect(sum(({ objects: removed }) => removed)).toBe(5n);
  const [row] = await fixture.ask(
    "SELECT pending_delete_bytes, version_bytes FROM artifacts.usage_v1 WHERE org_id = $1",
    tenant.orgId,
  );
  expect(row).toEqual({ pending_delete_bytes: 0, version_bytes: 0 });
});

test("objects are not swept while their upload is being verified, however long that takes", async () => {
  const file = content("a.bin", 300_000);
  const begun = await begin([file]);
  const sent = await sendFile(fixture, tenant, begun.files[0]!, file);
  await fixture.ask(
    "UPDATE artifacts.objects SET sweep_after = now() - interval '1 s' WHERE org_id = $1",
    tenant.orgId,
  );
  const blob: Blob = {
    ...fixture.deps.blob,
    listParts: async (...args) => {
      await sweep();
      return fixture.deps.blob.listParts(...args);
    },
  };
  const { createUploadJobs } = await import("../uploads/upload-jobs.ts");
  const jobs = createUploadJobs({ ...fixture.deps, blob, log: { warn: () => {} } });
  const request = { uploadSessionId: begun.session!.id, files: [sent] };
  expect(await fixture.newProcess({ blob, jobs }).completeUpload(request, call)).toMatchObject({
    version: { versionIndex: 0 },
  });
});

test("an upload whose process died while it verified is finished by another one", async () => {
  const file = content("a.bin", 300_000);
  const begun = await begin([file]);
  const sent = await sendFile(fixture, tenant, begun.files[0]!, file);
  const death = Promise.withResolvers<never>();
  const dead: Blob = { ...fixture.deps.blob, head: () => death.promise };
  const { createUploadJobs } = await import("../uploads/upload-jobs.ts");
  const jobs = createUploadJobs({ ...fixture.deps, blob: dead, log: { warn: () => {} } });
  const unanswered = fixture
    .newProcess({ blob: dead, jobs })
    .completeUpload({ uploadSessionId: begun.session!.id, files: [sent] }, call);
  unanswered.catch(() => {});
  const state = async () =>
    (
      await fixture.ask<{ state: string }>(
        "SELECT state FROM artifacts.upload_sessions WHERE id = $1",
        begun.session!.id,
      )
    )[0]!.state;
  while ((await state()) === "uploading") await new Promise((resolve) => setTimeout(resolve, 10));
  await daysLater(1 / 24 / 60);
  const sweeper = startSweeper({ ...fixture.deps, sweepSeconds: 1, log: { info: () => {}, warn: () => {} } });
  while ((await state()) !== "active") await new Promise((resolve) => setTimeout(resolve, 10));
  await sweeper.stop();
  death.reject(new Error("the process is dead"));
  await expect(unanswered).rejects.toThrow("the process is dead");
  expect(
    await fixture.client.completeUpload({ uploadSessionId: begun.session!.id, files: [sent] }, call),
  ).toMatchObject({
    version: { id: begun.session!.versionId },
  });
  await counters();
});

test("an upload whose objects were swept before a request continued it has failed, and its key begins another one", async () => {
  const file = content("a.txt", 10);
  const wish = { idempotencyKey: "the same" };
  const begun = await begin([file], wish);
  const sent = await sendFile(fixture, tenant, begun.files[0]!, file);
  const death = Promise.withResolvers<void>();
  const jobs = { ...fixture.deps.jobs, start: () => death.promise };
  const completion = { uploadSessionId: begun.session!.id, files: [sent] };
  const unanswered = fixture.newProcess({ jobs }).completeUpload(completion, call);
  unanswered.catch(() => {});
  const session = async () =>
    (
      await fixture.ask<{ state: string; reason: string | null }>(
        "SELECT state, reason FROM artifacts.upload_sessions WHERE id = $1",
        begun.session!.id,
      )
    )[0]!;
  while ((await session()).state === "uploading") await new Promise((resolve) => setTimeout(resolve, 10));
  death.reject(new Error("the process is dead"));
  await expect(unanswered).rejects.toThrow("the process is dead");
  await daysLater(1);
  expect(await sweep()).toMatchObject({ objects: 1n });

  await expect(fixture.client.completeUpload(completion, call)).rejects.toMatchObject({ reason: "conflict" });
  expect(await session()).toEqual({ state: "failed", reason: "its bytes were not kept so long" });
  await expect(fixture.client.completeUpload(completion, call)).rejects.toMatchObject({ reason: "conflict" });
  await counters();
  const again = await begin([file], wish);
  expect(again.session!.id).not.toBe(begun.session!.id);
  expect(await upload(fixture, tenant, call, again, [file])).toMatchObject({ version: { versionIndex: 0 } });
});
