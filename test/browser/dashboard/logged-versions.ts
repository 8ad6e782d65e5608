import { createHash } from "node:crypto";
import { expect } from "@jest/globals";
import type { Api } from "../../stack/client.ts";

/** A version, as the API answers with it. */
export type LoggedVersion = { readonly id: string; readonly collection_id: string; readonly version: string };

/** What a run logs: a version with small files by their paths. */
type VersionInput = {
  readonly name: string;
  readonly type?: string;
  readonly aliases?: readonly string[];
  readonly description?: string;
  readonly metadata?: Readonly<Record<string, unknown>>;
  readonly files?: Readonly<Record<string, string>>;
};

const post = async (api: Api, path: string, body: object) => {
  const answer = await api.post(path, body);
  expect([path, answer.status, answer.status === 200 ? "" : answer.text]).toEqual([path, 200, ""]);
  return answer.json;
};

/** Creates a run. */
export async function createRun(api: Api, project: string, name: string): Promise<string> {
  return (await post(api, "/runs", { project, name })).run.id as string;
}

const filesOf = (runId: string, { name, files }: VersionInput) => files ?? { "a.txt": `${runId} ${name}` };

/** Begins to upload a version that a run made, which makes its collection. */
export async function beginVersion(api: Api, runId: string, input: VersionInput) {
  const { name, type = "model", aliases = [], description, metadata } = input;
  const files = filesOf(runId, input);
  const entries = Object.entries(files).map(([path, text]) => ({
    path,
    size_bytes: Buffer.byteLength(text),
    sha256: createHash("sha256").update(text).digest("hex"),
    mime_type: "text/plain",
  }));
  return post(api, `/api/runs/${runId}/artifact-uploads`, {
    collection: {
      name,
      type,
      ...(description === undefined ? {} : { description }),
      ...(metadata ? { metadata } : {}),
    },
    manifest: { entries },
    aliases,
  });
}

/** Uploads a version that a run made. */
export async function logVersion(api: Api, runId: string, input: VersionInput): Promise<LoggedVersion> {
  const begun = await beginVersion(api, runId, input);
  const files = filesOf(runId, input);
  const sent = (begun.files as { entry_id: string; path: string }[]).map(({ entry_id, path }) => ({
    entry_id,
    content_base64: Buffer.from(files[path]!).toString("base64"),
  }));
  const done = await post(api, `/api/artifact-uploads/${begun.upload_session.id}/complete`, { files: sent });
  return done.artifact_version as LoggedVersion;
}

/** Records that a run uses a version. */
export async function recordUse(api: Api, runId: string, { id }: LoggedVersion): Promise<void> {
  await post(api, `/api/runs/${runId}/artifact-inputs`, { artifact_version_id: id });
}
