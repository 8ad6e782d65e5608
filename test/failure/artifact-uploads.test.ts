import { createHash, randomBytes, randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { requireServers, until } from "@tidemark/testkit";
import { request } from "undici";
import type { Answer, Api } from "../stack/client.ts";
import { describeWith } from "../stack/describe-with.ts";
import { queryDatabase } from "../stack/query-database.ts";
import { startStack, type Stack } from "../stack/stack.ts";

const servers = await requireServers(["nats-server", "minio"]);

const CLIENTS = 4;

type File = { readonly path: string; readonly bytes: Buffer; readonly sha256: string };

const fileOf = (path: string, size: number): File => {
  const bytes = randomBytes(size);
  return { path, bytes, sha256: createHash("sha256").update(bytes).digest("hex") };
};

/** Repeats a request until it is answered otherwise than by 503, as a client of a service that comes back does. */
async function insist(ask: () => Promise<Answer>): Promise<Answer> {
  let last: Answer | undefined;
  await until("an answer", async () => {
    last = await ask();
    return last.status !== 503;
  });
  return last!;
}

/** Uploads files as a new version and returns its id. Whatever is refused for a while is repeated. */
async function upload(api: Api, runId: string, collection: string, files: readonly File[]): Promise<string> {
  const manifest = {
    entries: files.map(({ path, bytes, sha256 }) => ({ path, size_bytes: bytes.length, sha256 })),
  };
  const headers = { "idempotency-key": randomUUID() };
  const body = { collection: { name: collection, type: "model" }, manifest };
  const begun = await insist(() => api.post(`/api/runs/${runId}/artifact-uploads`, body, { headers }));
  expect([begun.status, begun.text]).toEqual([200, expect.any(String)]);
  const sent: unknown[] = [];
  for (const file of begun.json.files) {
    const { bytes } = files.find(({ path }) => path === file.path)!;
    if (file.upload_kind === "inline") {
      sent.push({ entry_id: file.entry_id, content_base64: bytes.toString("base64") });
      continue;
    }
    const [part] = file.parts;
    const answer = await request(part.url, { method: "PUT", headers: part.required_headers, body: bytes });
    await answer.body.dump();
    expect(answer.statusCode).toBe(200);
    sent.push({ entry_id: file.entry_id });
  }
  const path = `/api/artifact-uploads/${begun.json.upload_session.id}/complete`;
  const done = await insist(() => api.post(path, { files: sent }));
  expect([done.status, done.text]).toEqual([200, expect.any(String)]);
  return done.json.artifact_version.id;
}

describeWith(servers)("the artifacts service", () => {
  let stack: Stack;
  beforeAll(async () => {
    stack = await startStack("split", { settings: { TIDEMARK_ARTIFACT_SWEEP_SECONDS: "1" } });
  });
  afterAll(() => stack.stop());

  test("killed while clients upload: every acknowledged version is whole, each upload is one version, and counters are exact", async () => {
    const { api, orgId, key } = await stack.organization();
    const runId = (await api.post("/runs", {})).json.run.id;
    const stored = new Map<string, readonly File[]>();
    let uploading = true;
    const clients = Array.from({ length: CLIENTS }, async (_, client) => {
      for (let turn = 0; uploading; turn += 1) {
        const files = [fileOf("small.txt", 100), fileOf("large.bin", 300_000 + turn)];
        stored.set(await upload(api, runId, `of client ${client}`, files), files);
      }
    });
    for (let kill = 0; kill < 4; kill += 1) {
      const before = stored.size;
      await until("some versions", () => stored.size > before + 5);
      await stack.restart("artifacts");
    }
    uploading = false;
    await Promise.all(clients);

    for (const [id, files] of stored) {
      const { entries } = (await api.get(`/api/artifact-versions/${id}/manifest`)).json;
      expect(entries).toHaveLength(files.length);
      for (const entry of entries) {
        const answer = await request(`${stack.baseUrl}/api/artifact-entries/${entry.id}/download`, {
          headers: { authorization: `Bearer ${key}` },
        });
        const hash = createHash("sha256")
          .update(Buffer.from(await answer.body.arrayBuffer()))
          .digest("hex");
        expect([entry.path, hash]).toEqual([entry.path, files.find(({ path }) => path === entry.path)!.sha256]);
      }
    }
    const [counted] = await queryDatabase<Record<string, string>>(
      stack,
      `SELECT (SELECT count(*) FROM artifacts.versions WHERE org_id = $1)::text AS versions,
         (SELECT sum(size_bytes) FROM artifacts.versions WHERE org_id = $1)::text AS bytes,
         (SELECT count(*) FROM artifacts.objects WHERE org_id = $1 AND state = 'stored')::text AS objects`,
      [orgId],
    );
    const bytes = [...stored.values()].flat().reduce((sum, file) => sum + file.bytes.length, 0);
    expect(counted).toEqual({ versions: String(stored.size), bytes: String(bytes), objects: String(2 * stored.size) });
    const [storage] = await queryDatabase<Record<string, string>>(
      stack,
      `SELECT version_bytes::text, versions_active::text, reserved_bytes::text, pending_delete_bytes::text
       FROM artifacts.storage WHERE org_id = $1`,
      [orgId],
    );
    expect(storage).toEqual({
      version_bytes: String(bytes),
      versions_active: String(stored.size),
      reserved_bytes: "0",
      pending_delete_bytes: "0",
    });
  });
});
