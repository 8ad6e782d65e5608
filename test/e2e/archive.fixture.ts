import { createHash, randomUUID } from "node:crypto";
import { decodeLine, type ArchiveLine, type LineKind, type LineOf } from "@tidemark/archive";
import type { Answer, Api } from "../stack/client.ts";

/** Something that can call the API. */
export type Caller = Pick<Api, "get" | "post" | "patch">;

const fine = (answer: Answer): Answer => {
  if (answer.status !== 200) throw new Error(`${answer.status} ${answer.text}`);
  return answer;
};

/** Reads the lines of an archive, all of this version. */
export function linesOf({ text }: Pick<Answer, "text">): ArchiveLine[] {
  return text
    .trimEnd()
    .split("\n")
    .map((line) => decodeLine(line) as ArchiveLine);
}

/** The lines of one kind. */
export function ofKind<K extends LineKind>(lines: readonly ArchiveLine[], kind: K): LineOf<K>[] {
  return lines.filter(({ line }) => line === kind) as unknown as LineOf<K>[];
}

/** Config, as it is stored, with values that a parser of doubles would lose. */
export const CONFIG = '{"big":12345678901234567890,"half":0.5,"é":"\\"x\\""}';

/** The data written into a run. */
export type Written = { readonly runId: string; readonly artifactId: string; readonly traceId: string };

/** Writes something of every kind into a new run of a project. */
export async function writeEverything(api: Caller, project: string): Promise<Written> {
  const rawBody = `{"name":"r é","project":${JSON.stringify(project)},"config":${CONFIG},"tags":["a","b"],"metadata":{"notes":"n"}}`;
  const { id: runId } = fine(await api.post("/runs", undefined, { rawBody })).json.run as { id: string };
  const points = Array.from({ length: 40 }, (_, i) => ({
    step: i / 2,
    metrics: { loss: Math.sqrt(i), ...(i % 3 === 0 ? { "eval/acc": i } : {}) },
    ...(i % 2 === 0 ? { timestamp: `2026-11-20T10:00:${String(i).padStart(2, "0")}.000001Z` } : {}),
  }));
  fine(await api.post(`/runs/${runId}/metrics/batch`, { points }));
  fine(await api.post(`/runs/${runId}/metrics`, { step: 0, metrics: { loss: 1e308 } }));
  for (const rank of [0, 1]) {
    const body = { step: 1, metrics: { load: rank + 0.5 }, rank, world_size: 2, local_rank: 0, weight: rank + 1 };
    fine(await api.post(`/runs/${runId}/rank-metrics`, body));
  }
  const lines = [
    { line_number: 2, message: "second\u001b[0m" },
    { line_number: 1, message: "first", timestamp: "2026-11-20T10:00:00.000001Z" },
  ];
  fine(await api.post(`/api/runs/${runId}/logs`, { stream: "stderr", lines }));
  const artifact = fine(
    await api.post(`/api/runs/${runId}/artifacts/upload`, {
      name: "a.png",
      content_base64: Buffer.from("png").toString("base64"),
      mime_type: "image/png",
      metadata: { a: 1 },
    }),
  ).json.artifact as { id: string };
  fine(await api.post(`/api/runs/${runId}/artifacts`, { name: "far", uri: "s3://bucket/far", type: "checkpoint" }));
  const attributes = [
    { path: "config/lr", type: "config", value: 0.1 },
    { path: "note", type: "string_series", step: 3, value: "text" },
    { path: "file", type: "file", value: { a: [1] }, artifact_id: artifact.id },
  ];
  fine(await api.post(`/api/runs/${runId}/attributes`, { attributes }));
  const rows = Array.from({ length: 150 }, (_, i) => (i % 2 === 0 ? { b: i, a: "x" } : { a: [i], c: null }));
  fine(await api.post(`/api/runs/${runId}/objects`, { key: "table", kind: "table", step: 1, rows }));
  fine(await api.post(`/api/runs/${runId}/objects`, { key: "image", kind: "image", artifact_id: artifact.id }));
  const traceId = randomUUID().replaceAll("-", "");
  const span = { trace_id: traceId, name: "s", kind: "model", status: "ok", started_at: "2026-11-20T10:00:00.000001Z" };
  const event = (number: number, more: object) => ({
    ...span,
    span_id: number.toString(16).padStart(16, "0"),
    event_id: randomUUID(),
    event_kind: "updated",
    ...more,
  });
  for (const events of [
    [event(1, { sequence: 1, step: 4 }), event(2, { sequence: 1, parent_span_id: "0000000000000001" })],
    [event(1, { sequence: 2, ended_at: "2026-11-20T10:00:01Z", attributes: { deep: { a: 1 } } })],
  ]) {
    const headers = { "idempotency-key": randomUUID() };
    fine(await api.post(`/api/runs/${runId}/traces/events`, { events }, { headers }));
  }
  return { runId, artifactId: artifact.id, traceId };
}

/** Makes a version of a model that a run wrote, with the alias `best`. */
export async function writeVersion(api: Caller, runId: string, content: string): Promise<{ id: string }> {
  const bytes = Buffer.from(content);
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  const begun = fine(
    await api.post(`/api/runs/${runId}/artifact-uploads`, {
      collection: { name: "policy", type: "model" },
      manifest: { entries: [{ path: "w.bin", kind: "file", size_bytes: bytes.length, sha256, mime_type: "x/y" }] },
      aliases: ["best"],
    }),
  ).json as { upload_session: { id: string }; files: { entry_id: string }[] };
  const files = begun.files.map(({ entry_id }) => ({ entry_id, content_base64: bytes.toString("base64") }));
  return fine(await api.post(`/api/artifact-uploads/${begun.upload_session.id}/complete`, { files })).json
    .artifact_version as { id: string };
}

/** The content of an archive, however its columns are cut into lines, and without values that a restore assigns again. */
export type Content = {
  /** Lines that are not of columns, in their order. Attributes and objects are numbered in their order. */
  readonly rows: readonly unknown[];
  /** The columns of each run and key, or stream, joined. */
  readonly columns: ReadonlyMap<string, Readonly<Record<string, readonly unknown[]>>>;
};

/** Returns what an archive holds, but for its time and organization. */
export function contentOf(text: string): Content {
  const [attributes, objects] = [new Map<number, number>(), new Map<number, number>()];
  const numbered = (ids: Map<number, number>, id: number): number => {
    if (!ids.has(id)) ids.set(id, ids.size);
    return ids.get(id)!;
  };
  const rows: unknown[] = [];
  const columns = new Map<string, Record<string, unknown[]>>();
  for (const line of linesOf({ text })) {
    if (line.line === "export") rows.push({ ...line, exported_at: "", org_id: "" });
    else if (line.line === "attribute") rows.push({ ...line, id: numbered(attributes, line.id) });
    else if (line.line === "object" || line.line === "object.rows")
      rows.push({ ...line, id: numbered(objects, line.id) });
    else if ("columns" in line) {
      const of = `${line.line} ${line.run_id} ${"key" in line ? line.key : line.stream}`;
      const joined = columns.get(of) ?? {};
      columns.set(of, joined);
      // A column of times is missing in lines whose points have none.
      const { timestamp = Array.from(line.columns.created_at, () => Number.NaN), ...others } = line.columns;
      for (const [name, values] of Object.entries({ ...others, timestamp })) {
        (joined[name] ??= []).push(...(values as Iterable<unknown>));
      }
    } else rows.push(line);
  }
  return { rows, columns };
}
