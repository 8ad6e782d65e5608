import { createHash, randomBytes, randomUUID } from "node:crypto";
import { Readable } from "node:stream";
import { until } from "@tidemark/testkit";
import { request } from "undici";
import type { Answer, Api } from "../stack/client.ts";

/** A file that a test stores. */
export type File = { readonly path: string; readonly bytes: Buffer; readonly sha256: string };

/** The SHA-256 of bytes, as 64 hexadecimal digits. */
const sha256 = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

/** A file with bytes that no other file has. */
export function fileOf(path: string, size: number): File {
  const bytes = randomBytes(size);
  return { path, bytes, sha256: sha256(bytes) };
}

/** How a client handles a request that gets no answer, or the answer "later". */
export type Insistence = (ask: () => Promise<Answer>) => Promise<Answer>;

const isLater = ({ status, json }: Answer): boolean => status === 503 || json?.code === "idempotency_in_progress";

/** Repeats a request until it gets another answer, as a client of a recovering service does. */
export const insist: Insistence = async (ask) => {
  let last: Answer | undefined;
  await until("an answer", async () => !isLater((last = await ask())));
  return last!;
};

/** Leaves at the first fault and never retries. */
export const leave: Insistence = async (ask) => {
  const answer = await ask();
  if (isLater(answer)) throw new Error(`left: ${answer.status}`);
  return answer;
};

/** Where an upload may be held: when half of its first part is sent, and before `complete`. */
export type Point = "half a part" | "complete";

/** A client that stores files. `at` is called at each point that an upload reaches. */
export type Storer = {
  readonly api: Api;
  readonly runId: string;
  readonly ask: Insistence;
  readonly at?: (point: Point) => Promise<void>;
};

function fine(answer: Answer): Answer {
  if (answer.status !== 200) throw new Error(`refused: ${answer.status} ${answer.text}`);
  return answer;
}

/** Uploads files as a version and returns its id. */
export async function storeVersion(
  { api, runId, ask, at = async () => {} }: Storer,
  collection: string,
  files: readonly File[],
): Promise<string> {
  const entries = files.map(({ path, bytes, sha256: hash }) => ({ path, size_bytes: bytes.length, sha256: hash }));
  const body = { collection: { name: collection, type: "model" }, manifest: { entries } };
  const headers = { "idempotency-key": randomUUID() };
  const begun = fine(await ask(() => api.post(`/api/runs/${runId}/artifact-uploads`, body, { headers }))).json;
  const sent: unknown[] = [];
  for (const { entry_id, path, upload_kind, part_size_bytes, parts } of begun.files) {
    const { bytes } = files.find((file) => file.path === path)!;
    if (upload_kind === "inline") {
      sent.push({ entry_id, content_base64: bytes.toString("base64") });
      continue;
    }
    const tags: unknown[] = [];
    for (const { part_number, url, required_headers } of parts) {
      const from = (part_number - 1) * part_size_bytes;
      const piece = upload_kind === "put" ? bytes : bytes.subarray(from, from + part_size_bytes);
      const answer = fine(await ask(() => putPart(url, required_headers, piece, () => at("half a part"))));
      tags.push({ part_number, etag: String(answer.headers["etag"]) });
    }
    sent.push(upload_kind === "put" ? { entry_id } : { entry_id, parts: tags });
  }
  await at("complete");
  const path = `/api/artifact-uploads/${begun.upload_session.id}/complete`;
  return fine(await ask(() => api.post(path, { files: sent }))).json.artifact_version.id;
}

async function putPart(
  url: string,
  headers: Record<string, string>,
  bytes: Buffer,
  half: () => Promise<void>,
): Promise<Answer> {
  async function* body(): AsyncGenerator<Buffer> {
    yield bytes.subarray(0, bytes.length / 2);
    await half();
    yield bytes.subarray(bytes.length / 2);
  }
  const answer = await request(url, {
    method: "PUT",
    headers: { ...headers, "content-length": String(bytes.length) },
    body: Readable.from(body()),
  });
  const text = await answer.body.text();
  return { status: answer.statusCode, headers: answer.headers, text, json: undefined };
}

/** Stores a file as a plain artifact and returns its id. */
export async function storePlain({ api, runId, ask }: Storer, { path, bytes }: File): Promise<string> {
  const headers = { "idempotency-key": randomUUID() };
  const body = { name: path, content_base64: bytes.toString("base64") };
  return fine(await ask(() => api.post(`/api/runs/${runId}/artifacts/upload`, body, { headers }))).json.artifact.id;
}

/** Downloads what a path leads to and returns its SHA-256. @throws Error when the answer is not 200 */
export async function downloadedHash(baseUrl: string, key: string, path: string): Promise<string> {
  const answer = await request(`${baseUrl}${path}`, { headers: { authorization: `Bearer ${key}` } });
  const bytes = Buffer.from(await answer.body.arrayBuffer());
  if (answer.statusCode !== 200) throw new Error(`refused: ${answer.statusCode} ${bytes.toString()}`);
  return sha256(bytes);
}

/** Downloads all files of a version and returns their SHA-256 by path. */
export async function downloadedHashes(api: Api, key: string, versionId: string): Promise<Record<string, string>> {
  const { entries } = fine(await api.get(`/api/artifact-versions/${versionId}/manifest`)).json;
  const hashes: Record<string, string> = {};
  for (const { id, path } of entries) {
    hashes[path] = await downloadedHash(api.baseUrl, key, `/api/artifact-entries/${id}/download`);
  }
  return hashes;
}
