import { createHash, randomBytes, randomUUID } from "node:crypto";
import { describe, expect, test } from "@jest/globals";
import { request } from "undici";
import type { Answer, Api } from "../stack/client.ts";
import { describeModes } from "../stack/modes.ts";

// One file, because all cases share a stack in each mode.

const sha256 = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");
const MIB = 1024 * 1024;

/** Status, headers and bytes of a download. */
async function download(api: Api, key: string, path: string, headers: Record<string, string> = {}) {
  const answer = await request(`${api.baseUrl}${path}`, { headers: { authorization: `Bearer ${key}`, ...headers } });
  return { status: answer.statusCode, headers: answer.headers, bytes: Buffer.from(await answer.body.arrayBuffer()) };
}

/** Sends one part where its address leads, as the SDK does. */
async function put(part: { url: string; required_headers: Record<string, string> }, bytes: Uint8Array) {
  const answer = await request(part.url, { method: "PUT", headers: part.required_headers, body: bytes });
  await answer.body.dump();
  return { status: answer.statusCode, etag: String(answer.headers["etag"] ?? "") };
}

type File = { path: string; bytes: Buffer };
const fileOf = (path: string, size: number): File => ({ path, bytes: randomBytes(size) });
const manifestOf = (files: readonly File[]) => ({
  entries: files.map(({ path, bytes }) => ({
    path,
    kind: "file",
    size_bytes: bytes.length,
    sha256: sha256(bytes),
    mime_type: "application/x-thing",
  })),
});

async function sendAll(begun: Answer["json"], files: readonly File[]) {
  const sent = [];
  for (const file of begun.files) {
    const { bytes } = files.find(({ path }) => path === file.path)!;
    if (file.upload_kind === "inline") {
      sent.push({ entry_id: file.entry_id, content_base64: bytes.toString("base64") });
      continue;
    }
    const parts = [];
    for (const part of file.parts) {
      const size = file.upload_kind === "put" ? bytes.length : file.part_size_bytes;
      const { status, etag } = await put(part, bytes.subarray((part.part_number - 1) * size, part.part_number * size));
      expect(status).toBe(200);
      parts.push({ part_number: part.part_number, etag: etag.replaceAll('"', "") });
    }
    sent.push({ entry_id: file.entry_id, ...(file.upload_kind === "multipart" ? { parts } : {}) });
  }
  return sent;
}

describeModes("artifacts", (stack) => {
  const fresh = async () => {
    const { api, key, orgId } = await stack().organization();
    const run = (await api.post("/runs", { project: "p" })).json.run;
    return { api, key, orgId, run, path: `/api/runs/${run.id}` };
  };
  const upload = (api: Api, path: string, body: Record<string, unknown>, headers = {}) =>
    api.post(`${path}/artifacts/upload`, body, { headers });
  const begin = (api: Api, path: string, files: readonly File[], more: Record<string, unknown> = {}) =>
    api.post(`${path}/artifact-uploads`, {
      collection: { name: "policy", type: "model" },
      manifest: manifestOf(files),
      aliases: [],
      ...more,
    });
  const store = async (api: Api, path: string, files: readonly File[], more: Record<string, unknown> = {}) => {
    const begun = await begin(api, path, files, more);
    expect([begun.status, begun.text]).toEqual([200, expect.any(String)]);
    const session = begun.json.upload_session.id;
    const done = await api.post(`/api/artifact-uploads/${session}/complete`, {
      files: await sendAll(begun.json, files),
    });
    expect([done.status, done.text]).toEqual([200, expect.any(String)]);
    return done.json.artifact_version;
  };

  describe("plain artifacts", () => {
    test("metadata only: the row is as it was sent, and there are no bytes", async () => {
      const { api, key, run, orgId, path } = await fresh();
      const { status, json } = await api.post(`${path}/artifacts`, {
        name: "policy.pt",
        type: "checkpoint",
        uri: "s3://bucket/policy.pt",
        step: 12,
        size_bytes: 2048,
        metadata: { seed: 1 },
      });
      expect(status).toBe(200);
      expect(json.artifact).toMatchObject({
        org_id: orgId,
        run_id: run.id,
        type: "checkpoint",
        name: "policy.pt",
        uri: "s3://bucket/policy.pt",
        step: 12,
        size_bytes: 2048,
        storage_backend: "external",
        metadata: { seed: 1 },
      });
      expect((await download(api, key, `/api/artifacts/${json.artifact.id}/download`)).status).toBe(404);
      expect((await api.get(`${path}/artifacts`)).json.artifacts).toEqual([json.artifact]);
    });

    test.each([0, 10, 3 * MIB])("an upload of %d bytes is read back unchanged", async (size) => {
      const { api, key, path } = await fresh();
      const bytes = randomBytes(size);
      const body = { name: 'we"ird\r\nname.bin', type: "file", content_base64: bytes.toString("base64") };
      const { status, json } = await upload(api, path, { ...body, name: "model.bin", mime_type: "text/html" });
      expect(status).toBe(200);
      expect(json.artifact).toMatchObject({
        uri: `instantml://artifacts/${json.artifact.id}`,
        size_bytes: size,
        sha256: sha256(bytes),
        storage_backend: stack().mode === "split" ? "r2" : "local",
      });
      const read = await download(api, key, `/api/artifacts/${json.artifact.id}/download`);
      expect(read.status).toBe(200);
      expect(read.bytes.equals(bytes)).toBe(true);
      expect(read.headers).toMatchObject({
        "content-type": "application/octet-stream",
        "content-length": String(size),
        "x-content-type-options": "nosniff",
        "content-security-policy": expect.stringContaining("sandbox"),
        "content-disposition": 'attachment; filename="model.bin"',
      });
    });

    test.each([
      ["bytes=0-3", 206, "0123", "bytes 0-3/10"],
      ["bytes=4-", 206, "456789", "bytes 4-9/10"],
      ["bytes=-2", 206, "89", "bytes 8-9/10"],
      ["bytes=8-100", 206, "89", "bytes 8-9/10"],
      ["bytes=0-1,3-4", 200, "0123456789", undefined],
      ["lines=0-3", 200, "0123456789", undefined],
      ["bytes=10-", 416, undefined, "bytes */10"],
      ["bytes=5-4", 416, undefined, "bytes */10"],
      ["bytes=x", 416, undefined, "bytes */10"],
    ])("Range: %s", async (range, status, text, contentRange) => {
      const { api, key, path } = await fresh();
      const content = Buffer.from("0123456789").toString("base64");
      const { artifact } = (await upload(api, path, { name: "a.txt", content_base64: content })).json;
      const read = await download(api, key, `/api/artifacts/${artifact.id}/download`, { range });
      expect([read.status, read.headers["content-range"]]).toEqual([status, contentRange]);
      if (text !== undefined) expect(read.bytes.toString()).toBe(text);
    });

    test("a repeat with the same key is the same artifact, another body is refused", async () => {
      const { api, path } = await fresh();
      const body = { name: "a.bin", content_base64: "AAAA" };
      const first = await upload(api, path, body, { "idempotency-key": "k" });
      const again = await upload(api, path, body, { "idempotency-key": "k" });
      expect(again.json).toEqual(first.json);
      expect(again.headers["idempotency-replayed"]).toBe("true");
      const other = await upload(api, path, { ...body, content_base64: "AAAB" }, { "idempotency-key": "k" });
      expect([other.status, other.json.code]).toEqual([409, "idempotency_key_reused"]);
      expect((await api.get(`${path}/artifacts`)).json.artifacts).toHaveLength(1);
    });

    test.each([
      ["no name", { content_base64: "AAAA" }, 400, "name"],
      ["no content", { name: "a" }, 400, "content_base64"],
      ["content that is not base64", { name: "a", content_base64: "A-_A" }, 400, "content_base64"],
      ["a step that is not a whole number", { name: "a", content_base64: "AAAA", step: "x" }, 400, "step"],
    ])("an upload with %s", async (_, body, status, field) => {
      const { api, path } = await fresh();
      const answer = await upload(api, path, body);
      expect([answer.status, answer.json.field]).toEqual([status, field]);
      expect((await api.get(`${path}/artifacts`)).json.artifacts).toEqual([]);
    });

    test("of a run that does not exist: 404, also for a bad body", async () => {
      const { api } = await fresh();
      const path = `/api/runs/${randomUUID()}`;
      expect((await upload(api, path, { name: "a", content_base64: "AAAA" })).status).toBe(404);
      expect((await upload(api, path, {})).status).toBe(404);
      expect((await api.post(`${path}/artifacts`, {})).status).toBe(404);
      expect((await api.get(`${path}/artifacts`)).status).toBe(404);
    });

    test("have pages that say whether more follow, and begin at no offset", async () => {
      const { api, path } = await fresh();
      for (const name of ["a", "b", "c"]) await api.post(`${path}/artifacts`, { name });
      const pageAt = async (cursor: string | null) => {
        const query = cursor === null ? "cursor=" : `cursor=${encodeURIComponent(cursor)}`;
        const { json } = await api.get(`${path}/artifacts?limit=2&${query}`);
        return { ...json, artifacts: json.artifacts.map(({ name }: { name: string }) => name) };
      };
      const first = await pageAt(null);
      expect(first).toEqual({ artifacts: ["c", "b"], next_cursor: expect.any(String), truncated: true });
      expect(await pageAt(first.next_cursor)).toEqual({ artifacts: ["a"], next_cursor: null, truncated: false });
      for (const [query, field] of [
        ["offset=1", "offset"],
        ["cursor=x", "cursor"],
      ]) {
        const refused = await api.get(`${path}/artifacts?${query}`);
        expect([refused.status, refused.json.field]).toEqual([400, field]);
      }
    });

    test("are counted in run rows, and a fork starts from a checkpoint", async () => {
      const { api, run, path } = await fresh();
      const checkpoint = (await api.post(`${path}/artifacts`, { name: "c", type: "checkpoint", step: 7 })).json
        .artifact;
      await api.post(`${path}/artifacts`, { name: "f" });
      const summary = (await api.get(`/runs/${run.id}`)).json;
      expect((summary.run ?? summary).artifact_counts ?? summary.artifact_counts).toEqual({
        checkpoint: 1,
        rollout: 0,
        file: 1,
      });
      const fork = await api.post(`/api/runs/${run.id}/forks`, { checkpoint_artifact_id: checkpoint.id });
      expect(fork.status).toBe(200);
      expect(fork.json.fork).toMatchObject({ forked_from_step: 7, forked_from_artifact_id: checkpoint.id });
      const lineage = await api.get(`/api/runs/${fork.json.run.id}/lineage`);
      expect(lineage.json.checkpoint_artifact).toEqual(checkpoint);
      const file = (await api.get(`${path}/artifacts`)).json.artifacts.find(
        (row: { name: string }) => row.name === "f",
      );
      const refused = await api.post(`/api/runs/${run.id}/forks`, { checkpoint_artifact_id: file.id });
      expect([refused.status, refused.json.field]).toEqual([400, "checkpoint_artifact_id"]);
      const unknown = await api.post(`/api/runs/${run.id}/forks`, { checkpoint_artifact_id: randomUUID() });
      expect(unknown.status).toBe(404);
    });

    test("deleting one takes its bytes and its count", async () => {
      const { api, key, path } = await fresh();
      const { artifact } = (await upload(api, path, { name: "a", content_base64: "AAAA" })).json;
      const deleted = await api.call("DELETE", `/api/artifacts/${artifact.id}`);
      expect(deleted.status).toBe(200);
      expect((await api.get(`${path}/artifacts`)).json.artifacts).toEqual([]);
      expect((await download(api, key, `/api/artifacts/${artifact.id}/download`)).status).toBe(404);
    });
  });

  describe("versions", () => {
    test("files of every kind become a version, and are read back unchanged", async () => {
      const { api, key, path } = await fresh();
      const files = [fileOf("small.txt", 10), fileOf("dir/middle.bin", 300_000), fileOf("large.bin", 33 * MIB)];
      const version = await store(api, path, files, { aliases: ["best"] });
      expect(version).toMatchObject({ name: "policy", version: "v0", aliases: ["best", "latest"], file_count: 3 });
      const manifest = await api.get(`/api/artifact-versions/${version.id}/manifest?limit=1000`);
      expect(manifest.json).toMatchObject({ total: 3, has_more: false });
      for (const entry of manifest.json.entries) {
        expect(entry.downloadable).toBe(true);
        const read = await download(api, key, `/api/artifact-entries/${entry.id}/download`);
        const { bytes } = files.find((file) => file.path === entry.path)!;
        expect([read.status, read.bytes.equals(bytes)]).toEqual([200, true]);
        expect(read.headers["content-disposition"]).toBe(`attachment; filename="${entry.path.split("/").at(-1)}"`);
      }
    });

    test("resolve, get, list, alias, retention, delete", async () => {
      const { api, key, run, path } = await fresh();
      const version = await store(api, path, [fileOf("a.bin", 300_000)]);
      const get = (route: string) => api.get(`/api/artifact-versions/${route}`);
      for (const ref of ["policy", "policy:latest", "policy:v0", "model/policy", "p/model/policy:v0"]) {
        expect((await get(`resolve?ref=${encodeURIComponent(ref)}`)).json.artifact_version.id).toBe(version.id);
      }
      expect((await get("resolve?ref=nothing")).status).toBe(404);
      expect((await get("resolve?ref=a/b/c/d")).status).toBe(400);
      expect((await get(version.id)).json.artifact_version).toEqual(version);
      const alias = `/api/artifact-collections/${version.collection_id}/aliases/prod`;
      const promote = { artifact_version_id: version.id, confirm: "prod", reason: "good" };
      expect((await api.call("PUT", alias, { body: promote })).json.artifact_version.aliases).toEqual([
        "latest",
        "prod",
      ]);
      expect((await api.call("PUT", alias, { body: { ...promote, confirm: "x" } })).status).toBe(400);
      const input = await api.post(`${path}/artifact-inputs`, { artifact_version_id: version.id });
      expect(input.json.edge).toMatchObject({ run_id: run.id, direction: "input" });
      const lineage = (await get(`${version.id}/lineage`)).json;
      expect(lineage.edges.map((edge: { direction: string }) => edge.direction).toSorted()).toEqual([
        "input",
        "output",
      ]);
      const graph = await get(`${version.id}/graph?hops=2`);
      expect(graph.json).toMatchObject({ truncated: false, hops: 2, limit: 20, edges: lineage.edges });
      expect(graph.json.nodes.map((node: { id: string }) => node.id)).toEqual([
        `artifact-version:${version.id}`,
        `run:${run.id}`,
      ]);
      expect((await get(`${version.id}/graph?hops=11`)).json).toMatchObject({ field: "hops" });
      const listed = await api.get(`/api/artifact-collections?project_id=${version.project_id}`);
      expect(listed.json.collections.map(({ id }: { id: string }) => id)).toEqual([version.collection_id]);
      const keep = { retention_mode: "days", ttl_days: 3650, confirm: version.id, reason: "law" };
      const kept = await api.patch(`/api/artifact-versions/${version.id}/retention`, keep);
      expect(kept.json.artifact_version).toMatchObject({ retention_mode: "days", ttl_days: 3650 });
      const wish = { confirm: version.id, reason: "old", delete_aliases: false };
      expect((await api.call("DELETE", `/api/artifact-versions/${version.id}`, { body: wish })).status).toBe(409);
      const entry = (await get(`${version.id}/manifest`)).json.entries[0].id;
      const gone = await api.call("DELETE", `/api/artifact-versions/${version.id}`, {
        body: { ...wish, delete_aliases: true },
      });
      expect(gone.json.artifact_version.state).toBe("soft_deleted");
      const ofRun = (await api.get(`${path}/artifact-versions`)).json;
      expect(ofRun).toMatchObject({ total: 2, has_more: false });
      expect(ofRun.artifact_versions).toMatchObject(
        ["input", "output"].map((direction) => ({
          direction,
          artifact_version: { id: version.id, state: "soft_deleted" },
        })),
      );
      expect((await get(version.id)).status).toBe(410);
      expect((await get(`${version.id}/manifest`)).status).toBe(410);
      expect((await get(`${version.id}/graph`)).status).toBe(410);
      expect((await download(api, key, `/api/artifact-entries/${entry}/download`)).status).toBe(410);
      expect((await get("resolve?ref=policy")).status).toBe(404);
      const collections = (await api.get("/api/artifact-collections")).json.collections;
      expect(collections).toMatchObject([
        { name: "policy", versions_count: 0, retained_bytes: 0, pending_delete_bytes: 300_000 },
      ]);
    });

    test("other bytes than announced never become a version", async () => {
      const { api, path } = await fresh();
      const file = fileOf("a.bin", 300_000);
      const begun = (await begin(api, path, [file])).json;
      const part = begun.files[0].parts[0];
      const { status } = await put(part, randomBytes(300_000));
      const session = `/api/artifact-uploads/${begun.upload_session.id}`;
      const complete = () => api.post(`${session}/complete`, { files: [{ entry_id: begun.files[0].entry_id }] });
      // An S3 server refuses them itself.
      expect(status === 200 || (stack().mode === "split" && status === 400)).toBe(true);
      expect((await complete()).status).toBe(400);
      expect((await put(part, file.bytes)).status).toBe(200);
      const done = await complete();
      expect([done.status, done.json.artifact_version?.version]).toEqual([200, "v0"]);
      expect((await complete()).json).toEqual(done.json);
      // The address is of no use to anybody any more.
      expect((await put(part, randomBytes(300_000))).status).toBeGreaterThanOrEqual(400);
    });

    test("the same files again are the same version", async () => {
      const { api, path } = await fresh();
      const files = [fileOf("a.bin", 10)];
      const version = await store(api, path, files);
      const again = await begin(api, path, files, { aliases: ["again"] });
      expect(again.json).toMatchObject({
        deduplicated: true,
        artifact_version: { id: version.id, aliases: ["again", "latest"] },
      });
    });

    test("renew and abort", async () => {
      const { api, path } = await fresh();
      const begun = (await begin(api, path, [fileOf("a.bin", 300_000)])).json;
      const session = `/api/artifact-uploads/${begun.upload_session.id}`;
      const part = { entry_id: begun.files[0].entry_id, start_part_number: 1, part_count: 1 };
      expect((await api.post(`${session}/renew`, part)).json.parts).toMatchObject([
        { part_number: 1, url: expect.any(String) },
      ]);
      expect((await api.post(`${session}/renew`, { ...part, part_count: 2 })).status).toBe(400);
      expect((await api.post(`${session}/abort`, { reason: "no" })).json.upload_session.state).toBe("failed");
      expect((await api.post(`${session}/abort`, {})).status).toBe(200);
      expect((await api.post(`${session}/renew`, part)).status).toBe(409);
      expect((await api.post(`${session}/complete`, { files: [{ entry_id: part.entry_id }] })).status).toBe(409);
      expect((await api.post(`/api/artifact-uploads/${randomUUID()}/abort`, {})).status).toBe(404);
    });

    test.each(["../up", "a/../b", "/abs", "a//b", "a\\b", "a\u0000b", "a\r\nb", "", " ", ".", "a/.", "x".repeat(1025)])(
      "the path %j is refused",
      async (odd) => {
        const { api, path } = await fresh();
        const answer = await begin(api, path, [{ path: odd, bytes: Buffer.from("x") }]);
        expect(answer.status).toBe(400);
        expect((await api.get("/api/artifact-collections")).json.collections).toEqual([]);
      },
    );

    test.each(["CON", "\u202Egnp.exe", "é/ü", "%2e%2e/x"])("the path %j is a name like any other", async (odd) => {
      const { api, key, path } = await fresh();
      const file = { path: odd, bytes: Buffer.from("bytes") };
      const version = await store(api, path, [file]);
      const { entries } = (await api.get(`/api/artifact-versions/${version.id}/manifest`)).json;
      expect(entries.map((entry: { path: string }) => entry.path)).toEqual([odd]);
      const read = await download(api, key, `/api/artifact-entries/${entries[0].id}/download`);
      expect(read.bytes.toString()).toBe("bytes");
      expect(read.headers["content-disposition"]).toMatch(
        /^attachment; filename="[A-Za-z0-9._-]{1,120}"(; filename\*=UTF-8''[A-Za-z0-9._%-]+)?$/,
      );
    });
  });

  test("another organization and another project see nothing of it", async () => {
    const { api, key, path } = await fresh();
    const version = await store(api, path, [fileOf("a.bin", 10)]);
    const { artifact } = (await upload(api, path, { name: "a", content_base64: "AAAA" })).json;
    const entry = (await api.get(`/api/artifact-versions/${version.id}/manifest`)).json.entries[0].id;
    const stranger = await stack().organization();
    const routes = [
      `${path}/artifacts`,
      `/api/artifacts/${artifact.id}/download`,
      `/api/artifact-versions/${version.id}`,
      `/api/artifact-versions/${version.id}/manifest`,
      `/api/artifact-versions/${version.id}/lineage`,
      `/api/artifact-versions/${version.id}/graph`,
      `/api/artifact-versions/resolve?ref=policy`,
      `/api/artifact-collections/${version.collection_id}`,
      `/api/artifact-collections/${version.collection_id}/versions`,
      `/api/artifact-entries/${entry}/download`,
    ];
    for (const route of routes) {
      expect([route, (await stranger.api.get(route)).status]).toEqual([route, 404]);
      expect([route, (await download(api, key, route)).status]).toEqual([route, 200]);
      expect([route, (await api.as(null).get(route)).status]).toEqual([route, 401]);
    }
    const writer = await stack().organization({ scopes: ["sdk:ingest"] });
    expect((await writer.api.get(`/api/artifact-versions/${version.id}/graph`)).status).toBe(403);
  });
});
