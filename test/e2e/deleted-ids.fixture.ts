import { randomUUID } from "node:crypto";
import { expect } from "@jest/globals";
import type { Answer, Api, CallOptions } from "../stack/client.ts";
import type { Stack } from "../stack/attach.ts";
import type { Person } from "../stack/people.ts";
import { linesOf, ofKind, writeEverything, writeVersion } from "./archive.fixture.ts";
import { keyOf } from "./removal.fixture.ts";

/** Ids of one thing of each kind that belongs to a run or a project, by the name that paths give them. */
export type Ids = Readonly<Record<(typeof ofRun)[number] | (typeof ofProject)[number], string>>;

/** Ids that are deleted with their run. */
export const ofRun = ["run_id", "artifact_id", "object_id", "trace_id", "upload_session_id", "token"] as const;
/** Ids that are deleted with their project, and outlive the run that made them. */
export const ofProject = [
  "project_id",
  "collection_id",
  "version_id",
  "entry_id",
  "report_id",
  "share_token",
  "view_id",
  "import_id",
  "archive_id",
] as const;

/** Bytes of a file that is not sent inline. */
const PART_BYTES = 300 * 1024;

/** Ids of nothing. */
export const missing: Ids = {
  run_id: randomUUID(),
  artifact_id: randomUUID(),
  object_id: "987654321",
  trace_id: "9".repeat(32),
  upload_session_id: randomUUID(),
  token: `tm_upload_${"A".repeat(124)}`,
  project_id: randomUUID(),
  collection_id: randomUUID(),
  version_id: randomUUID(),
  entry_id: randomUUID(),
  report_id: randomUUID(),
  share_token: `tm_share_${"A".repeat(60)}`,
  view_id: randomUUID(),
  import_id: "2000000000",
  archive_id: randomUUID(),
};

const fine = (answer: Answer): Answer["json"] => {
  expect([answer.status, answer.status === 200 ? "" : answer.text]).toEqual([200, ""]);
  return answer.json;
};

/** A project with a run, and one of each thing that can belong to them. */
export async function makeEverything(stack: Stack, owner: Person): Promise<{ api: Api; ids: Ids; sha256: string }> {
  const api = await keyOf(stack, owner);
  const { browser } = owner;
  const { runId, artifactId, traceId } = await writeEverything(api, "p");
  const { project_id: projectId } = fine(await api.get(`/runs/${runId}`)).run;
  const version = await writeVersion(api, runId, "weights");
  const [entry] = fine(await api.get(`/api/artifact-versions/${version.id}/manifest`)).entries;
  const { collections } = fine(await api.get("/api/artifact-collections"));
  const table = fine(await api.get(`/api/runs/${runId}/objects?kind=table`)).objects[0];
  const upload = fine(
    await api.post(`/api/runs/${runId}/artifact-uploads`, {
      collection: { name: "large", type: "file" },
      manifest: { entries: [{ path: "x", size_bytes: PART_BYTES, sha256: "0".repeat(64) }] },
    }),
  );
  const { report } = fine(await browser.post("/api/reports", { title: "t", project_id: projectId }));
  const shared = fine(await browser.post(`/api/reports/${report.id}/share`, {})).report;
  const view = fine(await browser.post("/api/workspace-views", { name: "v", project: "p" })).workspace_view;
  const { job } = fine(await api.post("/api/imports/jobs", { source_type: "wandb", target_project: "p" }));
  const exported = await api.get("/api/export?format=ndjson&project=p");
  const headers = { "content-type": "application/x-ndjson" };
  const restored = fine(await api.post("/api/imports/archive", undefined, { rawBody: exported.text, headers }));
  return {
    api,
    sha256: ofKind(linesOf(exported), "artifact").find((line) => line.sha256 !== undefined)!.sha256!,
    ids: {
      run_id: runId,
      artifact_id: artifactId,
      object_id: String(table.id),
      trace_id: traceId,
      upload_session_id: upload.upload_session.id,
      token: new URL(upload.files[0].parts[0].url).pathname.split("/").at(-1)!,
      project_id: projectId,
      collection_id: collections.find(({ name }: { name: string }) => name === "policy").id,
      version_id: version.id,
      entry_id: entry.id,
      report_id: report.id,
      share_token: shared.share_token,
      view_id: view.id,
      import_id: String(job.id),
      archive_id: restored.archive_id,
    },
  };
}

/** Sends a request with a key, or as a signed-in user where keys are not allowed. */
export async function ask(api: Api, owner: Person, method: string, path: string, more: CallOptions): Promise<Answer> {
  const byKey = await api.call(method, path, more);
  return byKey.status === 401 || byKey.status === 403 ? owner.browser.call(method, path, more) : byKey;
}
