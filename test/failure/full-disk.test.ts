import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { request } from "undici";
import { startStack, type OwnStack } from "../stack/stack.ts";
import { downloadedHash, downloadedHashes, fileOf, insist, storePlain, storeVersion } from "./store-files.ts";

/** The largest file that the server may write, in bytes: beyond it the kernel refuses in the middle of a write, as a full disk does. */
const FILE_BYTES_MAX = 1024 * 1024;

/**
 * A really full file system needs a mount, which most machines refuse to a test; the limit on the size of files (RLIMIT_FSIZE) works for every user, and the
 * error takes the same way.
 */
let stack: OwnStack;
beforeAll(async () => {
  stack = await startStack("embedded", { fileBytesMax: FILE_BYTES_MAX });
});
afterAll(() => stack.stop());

const filesIn = async (folder: string): Promise<string[]> =>
  (await readdir(folder, { withFileTypes: true, recursive: true }).catch(() => []))
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));

test("a disk that gets full is 503 in the one error shape, nothing is torn, and the same requests succeed when there is room", async () => {
  const { api, key } = await stack.organization();
  const runId = (await api.post("/runs", {})).json.run.id;
  const file = fileOf("large.bin", 3 * FILE_BYTES_MAX);
  const unavailable = { error: expect.any(String), code: "service_unavailable" };

  const headers = { "idempotency-key": "plain" };
  const body = { name: file.path, content_base64: file.bytes.toString("base64") };
  const plain = () => api.post(`/api/runs/${runId}/artifacts/upload`, body, { headers });
  expect(await plain()).toMatchObject({ status: 503, json: unavailable });
  expect((await api.get(`/api/runs/${runId}/artifacts`)).json.artifacts).toEqual([]);
  expect(await filesIn(stack.blobDirectory)).toEqual([]);

  const manifest = { entries: [{ path: file.path, size_bytes: file.bytes.length, sha256: file.sha256 }] };
  const begun = await api.post(`/api/runs/${runId}/artifact-uploads`, { collection: { name: "c" }, manifest });
  const [{ entry_id, parts }] = begun.json.files;
  const put = async () => {
    const answer = await request(parts[0].url, {
      method: "PUT",
      headers: parts[0].required_headers,
      body: file.bytes,
    });
    return { status: answer.statusCode, text: await answer.body.text(), etag: answer.headers["etag"] };
  };
  const complete = () =>
    api.post(`/api/artifact-uploads/${begun.json.upload_session.id}/complete`, { files: [{ entry_id }] });
  const refused = await put();
  expect([refused.status, JSON.parse(refused.text)]).toEqual([503, unavailable]);
  expect(refused.etag).toBeUndefined();
  expect((await complete()).status).toBe(400);

  // Uploads that fit succeed meanwhile.
  const small = [fileOf("small.bin", 300_000)];
  const storer = { api, runId, ask: insist };
  const smallId = await storePlain(storer, small[0]!);
  expect(await downloadedHash(api.baseUrl, key, `/api/artifacts/${smallId}/download`)).toBe(small[0]!.sha256);
  await storeVersion(storer, "small", small);

  await stack.restart("artifacts", { fileBytesMax: undefined });
  const stored = await plain();
  expect(stored.status).toBe(200);
  const path = `/api/artifacts/${stored.json.artifact.id}/download`;
  expect(await downloadedHash(api.baseUrl, key, path)).toBe(file.sha256);
  expect((await put()).status).toBe(200);
  const done = await complete();
  expect(done.status).toBe(200);
  const hashes = await downloadedHashes(api, key, done.json.artifact_version.id);
  expect(hashes).toEqual({ [file.path]: file.sha256 });
});
