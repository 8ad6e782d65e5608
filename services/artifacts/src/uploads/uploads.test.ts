import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import type { Blob } from "@tidemark/blob";
import type { Call } from "@tidemark/rpc";
import { callOf, startArtifacts, storageOf, type ArtifactsFixture, type Tenant } from "../artifacts.fixture.ts";
import { beginning, content, entryOf, sendFile, sendPart, upload } from "./uploads.fixture.ts";

const MIB = 1024 * 1024;
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

const begin = (...args: Parameters<typeof beginning> extends [unknown, ...infer Rest] ? Rest : never) =>
  fixture.client.beginUpload(beginning(runId, ...args), call);
const small = () => content("small.txt", 10);
const middle = () => content("dir/middle.bin", 300_000);
const stateOf = async (sessionId: string) =>
  (await fixture.ask<{ state: string }>("SELECT state FROM artifacts.upload_sessions WHERE id = $1", sessionId))[0]
    ?.state;
const exact = async () => {
  const { counters, counted } = await storageOf(fixture, tenant);
  expect(counters).toEqual(counted);
  return counters;
};

describe("an upload", () => {
  test("says how each file is sent, and becomes a version with all of them", async () => {
    const files = [small(), middle(), content("large.bin", 32 * MIB + 5)];
    const begun = await begin(files, { aliases: ["best"], sourceStep: 7, ttlDays: 3 });
    expect(begun.files.map(({ path, uploadKind, partCount }) => [path, uploadKind, partCount])).toEqual([
      ["dir/middle.bin", "put", 1],
      ["large.bin", "multipart", 3],
      ["small.txt", "inline", 0],
    ]);
    const { version, deduplicated } = await upload(fixture, tenant, call, begun, files);
    expect(deduplicated).toBe(false);
    expect(version).toMatchObject({
      id: begun.session!.versionId,
      name: "policy",
      type: "model",
      versionIndex: 0,
      aliases: ["best", "latest"],
      sourceRunId: runId,
      sourceStep: 7,
      ttlDays: 3,
      retentionMode: "days",
      fileCount: 3,
      sizeBytes: BigInt(10 + 300_000 + 32 * MIB + 5),
    });
    for (const [path, file] of files.map((each) => [each.path, each] as const)) {
      if (path === "small.txt") continue;
      const { entries } = await fixture.client.listEntries({ versionId: version!.id, pathPrefix: path }, call);
      const { objectId } = await fixture.client.locateEntry({ entryId: entries[0]!.id }, call);
      const found = await fixture.deps.blob.get(`o/${tenant.orgId}/${objectId}`);
      const pieces: Uint8Array[] = [];
      for await (const piece of found!.body) pieces.push(piece);
      expect(Buffer.concat(pieces).equals(file.bytes)).toBe(true);
    }
    expect(await exact()).toMatchObject({ version_bytes: Number(version!.sizeBytes), versions_active: 1 });
    expect(await stateOf(begun.session!.id)).toBe("active");
  });

  test("is nothing that anybody sees before it is complete", async () => {
    const begun = await begin([middle()]);
    const collections = (await fixture.client.listCollections({}, call)).collections;
    expect(collections).toMatchObject([{ name: "policy", versionsCount: 0 }]);
    expect((await fixture.client.listVersions({ collectionId: collections[0]!.id }, call)).versions).toEqual([]);
    await expect(fixture.client.getVersion({ versionId: begun.session!.versionId }, call)).rejects.toMatchObject({
      reason: "not_found",
    });
    const [row] = await fixture.ask("SELECT reserved_bytes FROM artifacts.usage_v1 WHERE org_id = $1", tenant.orgId);
    expect(row).toEqual({ reserved_bytes: 300_000 });
  });

  test("of references alone is a version immediately", async () => {
    const entries = [{ path: "far", kind: "reference", mimeType: "x/y", referenceUri: "s3://bucket/far" }];
    const { version, session, deduplicated } = await begin([], { entries });
    expect(session).toBeUndefined();
    expect(version).toMatchObject({ fileCount: 1, sizeBytes: 0n, versionIndex: 0 });
    expect(deduplicated).toBe(false);
    expect((await begin([], { entries })).deduplicated).toBe(true);
  });

  test("of the bytes that the latest version has is that version, and the aliases move to it", async () => {
    const files = [small(), middle()];
    const first = await upload(fixture, tenant, call, await begin(files), files);
    const other = await fixture.newRun(tenant);
    const again = await fixture.client.beginUpload(beginning(other, files, { aliases: ["best"] }), call);
    expect(again).toMatchObject({
      deduplicated: true,
      version: { id: first.version!.id, aliases: ["best", "latest"] },
    });
    expect(again.session).toBeUndefined();
    const lineage = await fixture.client.getVersionLineage({ versionId: first.version!.id }, call);
    expect(lineage.runs.map((run) => run.runId).toSorted()).toEqual([runId, other].toSorted());
    await exact();
  });

  test("of the bytes of an older version is sent, and then that version", async () => {
    const [one, two] = [[small()], [small()]];
    const first = await upload(fixture, tenant, call, await begin(one), one);
    await upload(fixture, tenant, call, await begin(two), two);
    const begun = await begin(one);
    expect(begun.files).toHaveLength(1);
    const { version, deduplicated } = await upload(fixture, tenant, call, begun, one);
    expect(deduplicated).toBe(true);
    expect(version!.id).toBe(first.version!.id);
    expect(await stateOf(begun.session!.id)).toBe("deduplicated");
    await exact();
  });

  test("of bytes that another collection has keeps them once, and counts them twice", async () => {
    const files = [middle()];
    await upload(fixture, tenant, call, await begin(files), files);
    const begun = await begin(files, { collectionName: "other" });
    expect(begun.files).toHaveLength(1);
    await upload(fixture, tenant, call, begun, files);
    const objects = await fixture.ask(
      "SELECT state, refs FROM artifacts.objects WHERE org_id = $1 ORDER BY state",
      tenant.orgId,
    );
    expect(objects).toEqual([
      { state: "stored", refs: 2 },
      { state: "unneeded", refs: 0 },
    ]);
    expect(await exact()).toMatchObject({ version_bytes: 600_000 });
  });

  test("takes empty files", async () => {
    const files = [content("empty", 0)];
    const { version } = await upload(fixture, tenant, call, await begin(files), files);
    expect(version).toMatchObject({ sizeBytes: 0n, fileCount: 1 });
  });
});

describe("a repeated beginning with one key", () => {
  test("has the same session while it is open", async () => {
    const files = [small(), middle()];
    const first = await begin(files, { idempotencyKey: "k" });
    const second = await begin(files, { idempotencyKey: "k" });
    expect(second).toMatchObject({ replayed: true, session: { id: first.session!.id } });
    expect(second.files.map(({ entryId }) => entryId)).toEqual(first.files.map(({ entryId }) => entryId));
  });

  test("has the version once it is complete, and a new session after an abort", async () => {
    const files = [small()];
    const first = await begin(files, { idempotencyKey: "k" });
    const { version } = await upload(fixture, tenant, call, first, files);
    expect(await begin(files, { idempotencyKey: "k" })).toMatchObject({
      deduplicated: true,
      version: { id: version!.id },
    });
    expect(await begin(files, { idempotencyKey: "k" })).toMatchObject({ replayed: true, version: { id: version!.id } });
    const other = await begin([middle()], { idempotencyKey: "l" });
    await fixture.client.abortUpload({ uploadSessionId: other.session!.id }, call);
  });

  test("of other files is refused", async () => {
    await begin([small()], { idempotencyKey: "k" });
    await expect(begin([small()], { idempotencyKey: "k" })).rejects.toMatchObject({ reason: "idempotency_key_reused" });
  });

  test("20 at the same time have one session", async () => {
    const files = [middle()];
    const all = await Promise.all(Array.from({ length: 20 }, () => begin(files, { idempotencyKey: "k" })));
    expect(new Set(all.map(({ session }) => session!.id)).size).toBe(1);
    expect(all.filter(({ replayed }) => !replayed)).toHaveLength(1);
  });

  test("10 at the same time leave one upload in the store, and none when it is a version", async () => {
    const begun: [string, string][] = [];
    const several = Promise.withResolvers<void>();
    const blob: Blob = {
      ...fixture.deps.blob,
      beginParts: async (key, options) => {
        const uploadId = await fixture.deps.blob.beginParts(key, options);
        begun.push([key, uploadId]);
        if (begun.length > 1) several.resolve();
        await several.promise;
        return uploadId;
      },
    };
    const client = fixture.newProcess({ blob });
    const files = [middle()];
    const request = beginning(runId, files, { idempotencyKey: "key" });
    const all = await Promise.all(Array.from({ length: 10 }, () => client.beginUpload(request, call)));
    expect(await upload(fixture, tenant, call, all[3]!, files)).toMatchObject({ version: { versionIndex: 0 } });
    const left = await Promise.all(begun.map(([key, uploadId]) => fixture.deps.blob.listParts(key, uploadId)));
    expect(left).toEqual(begun.map(() => undefined));
  });
});

describe("completing", () => {
  test("again answers the same; 10 at the same time make one version", async () => {
    const files = [middle()];
    const begun = await begin(files);
    const sent = [await sendFile(fixture, tenant, begun.files[0]!, files[0]!)];
    const request = { uploadSessionId: begun.session!.id, files: sent };
    const others = fixture.newProcess();
    const all = await Promise.all(
      Array.from({ length: 10 }, (_, i) => (i % 2 === 0 ? fixture.client : others).completeUpload(request, call)),
    );
    expect(new Set(all.map(({ version }) => version!.id))).toEqual(new Set([begun.session!.versionId]));
    expect(await others.completeUpload(request, call)).toMatchObject({
      version: { versionIndex: 0 },
      deduplicated: false,
    });
    await exact();
  });

  test("with other bytes than the manifest says is refused, and the parts can be sent again", async () => {
    const file = middle();
    const begun = await begin([file]);
    const wrong = { ...file, bytes: content("x", 300_000).bytes };
    const request = async (of: typeof file) => ({
      uploadSessionId: begun.session!.id,
      files: [await sendFile(fixture, tenant, begun.files[0]!, of)],
    });
    await expect(fixture.client.completeUpload(await request(wrong), call)).rejects.toMatchObject({
      reason: "bad_request",
      field: "files",
      message: expect.stringContaining("SHA-256"),
    });
    expect(await stateOf(begun.session!.id)).toBe("uploading");
    expect(await fixture.client.completeUpload(await request(file), call)).toMatchObject({
      version: { versionIndex: 0 },
    });
  });

  test("with a part missing is refused, and continues with the stored parts", async () => {
    const file = content("large", 32 * MIB + 1);
    const begun = await begin([file]);
    const [first] = begun.files;
    const sent = await sendFile(fixture, tenant, first!, file, [2]);
    const complete = (files: (typeof sent)[]) =>
      fixture.client.completeUpload({ uploadSessionId: begun.session!.id, files }, call);
    await expect(complete([sent])).rejects.toMatchObject({ reason: "bad_request" });
    const claimed = [1, 2, 3].map((partNumber) => ({
      partNumber,
      etag: sent.parts.find((part) => part.partNumber === partNumber)?.etag ?? "0".repeat(64),
    }));
    await expect(complete([{ ...sent, parts: claimed as never }])).rejects.toMatchObject({ reason: "bad_request" });
    const renewed = await fixture.client.renewParts(
      {
        uploadSessionId: begun.session!.id,
        entryId: first!.entryId,
        startPartNumber: 2,
        partCount: 1,
        baseUrl: "http://h",
      },
      call,
    );
    const etag = await sendPart(fixture, renewed.parts[0]!.url, file.bytes.subarray(16 * MIB, 32 * MIB));
    const parts = claimed.map((part) => (part.partNumber === 2 ? { ...part, etag } : part));
    expect(await complete([{ ...sent, parts: parts as never }])).toMatchObject({ version: { versionIndex: 0 } });
  });

  test("inline bytes of another size or hash are refused", async () => {
    const [begun, other] = [await begin([small()]), await begin([small()], { collectionName: "b" })];
    const sent = await sendFile(fixture, tenant, begun.files[0]!, content("x", 11));
    await expect(
      fixture.client.completeUpload({ uploadSessionId: begun.session!.id, files: [sent] }, call),
    ).rejects.toMatchObject({ message: expect.stringContaining("has 11 bytes, not 10") });
    const same = await sendFile(fixture, tenant, other.files[0]!, content("x", 10));
    await expect(
      fixture.client.completeUpload({ uploadSessionId: other.session!.id, files: [same] }, call),
    ).rejects.toMatchObject({ message: expect.stringContaining("SHA-256") });
  });

  test("of an aborted upload is a conflict, of an expired one gone, of an unknown one not found", async () => {
    const [aborted, expired] = [await begin([small()]), await begin([middle()])];
    await fixture.client.abortUpload({ uploadSessionId: aborted.session!.id }, call);
    await fixture.ask(
      "UPDATE artifacts.upload_sessions SET expires_at = now() - interval '1 s' WHERE id = $1",
      expired.session!.id,
    );
    const complete = (uploadSessionId: string) => fixture.client.completeUpload({ uploadSessionId, files: [] }, call);
    await expect(complete(aborted.session!.id)).rejects.toMatchObject({ reason: "conflict" });
    await expect(complete(expired.session!.id)).rejects.toMatchObject({ reason: "gone" });
    await expect(complete(randomUUID())).rejects.toMatchObject({ reason: "not_found" });
    await expect(complete("x")).rejects.toMatchObject({ reason: "not_found" });
  });
});

describe("aborting", () => {
  test("ends an upload once, releases what it reserved, and its addresses lead nowhere", async () => {
    const begun = await begin([middle()]);
    const abort = () => fixture.client.abortUpload({ uploadSessionId: begun.session!.id, reason: "no" }, call);
    expect((await abort()).session).toMatchObject({ id: begun.session!.id, state: "failed" });
    expect((await abort()).session).toMatchObject({ state: "failed" });
    await expect(sendPart(fixture, begun.files[0]!.parts[0]!.url, new Uint8Array(300_000))).rejects.toMatchObject({
      reason: "conflict",
    });
    const [row] = await fixture.ask("SELECT reserved_bytes FROM artifacts.usage_v1 WHERE org_id = $1", tenant.orgId);
    expect(row).toEqual({ reserved_bytes: 0 });
  });

  test("of a finished upload is a conflict", async () => {
    const files = [small()];
    const begun = await begin(files);
    await upload(fixture, tenant, call, begun, files);
    await expect(fixture.client.abortUpload({ uploadSessionId: begun.session!.id }, call)).rejects.toMatchObject({
      reason: "conflict",
    });
  });
});

describe("new addresses", () => {
  test.each([
    ["from part 0", { startPartNumber: 0, partCount: 1 }, "bad_request"],
    ["of no part", { startPartNumber: 1, partCount: 0 }, "bad_request"],
    ["of 257 parts", { startPartNumber: 1, partCount: 257 }, "bad_request"],
    ["beyond the last part", { startPartNumber: 1, partCount: 2 }, "bad_request"],
    ["of an unknown file", { startPartNumber: 1, partCount: 1, entryId: randomUUID() }, "not_found"],
  ])("%s", async (_, wish, reason) => {
    const begun = await begin([middle()]);
    const request = { uploadSessionId: begun.session!.id, entryId: begun.files[0]!.entryId, ...wish };
    await expect(fixture.client.renewParts(request, call)).rejects.toMatchObject({ reason });
  });

  test("inline files have none", async () => {
    const begun = await begin([small()]);
    const request = {
      uploadSessionId: begun.session!.id,
      entryId: begun.files[0]!.entryId,
      startPartNumber: 1,
      partCount: 1,
    };
    expect((await fixture.client.renewParts(request, call)).parts).toEqual([]);
  });

  test("the first 256 parts are listed, the others can be requested", async () => {
    const entries = [{ ...entryOf(small()), sizeBytes: BigInt(300 * 16 * MIB) }];
    const begun = await begin([], { entries });
    expect(begun.files[0]).toMatchObject({ partCount: 300 });
    expect(begun.files[0]!.parts).toHaveLength(256);
    const request = {
      uploadSessionId: begun.session!.id,
      entryId: begun.files[0]!.entryId,
      startPartNumber: 257,
      partCount: 44,
    };
    const { parts } = await fixture.client.renewParts(request, call);
    expect(parts.map(({ partNumber }) => partNumber)).toEqual(Array.from({ length: 44 }, (_, i) => 257 + i));
    expect(Date.parse(parts[0]!.expiresAt) - Date.now()).toBeGreaterThan(14 * 60_000);
  });
});

describe("who may not see the run or the upload", () => {
  test.each(["another organization", "a key of another project"])("%s: not found", async (who) => {
    const begun = await begin([small()]);
    const outsider =
      who === "another organization"
        ? callOf(await fixture.newTenant())
        : callOf(tenant, { projectId: await fixture.newProject(tenant.orgId) });
    const uploadSessionId = begun.session!.id;
    const refused = { reason: "not_found" };
    await expect(fixture.client.beginUpload(beginning(runId, [small()]), outsider)).rejects.toMatchObject(refused);
    await expect(fixture.client.completeUpload({ uploadSessionId, files: [] }, outsider)).rejects.toMatchObject(
      refused,
    );
    await expect(fixture.client.abortUpload({ uploadSessionId }, outsider)).rejects.toMatchObject(refused);
    await expect(
      fixture.client.renewParts({ uploadSessionId, entryId: "x", startPartNumber: 1, partCount: 1 }, outsider),
    ).rejects.toMatchObject(refused);
  });
});
