import type { MessageInitShape } from "@bufbuild/protobuf";
import { badRequest } from "@tidemark/errors";
import { IMPORT_LIMITS } from "@tidemark/limits";
import type {
  CommitJobResponse,
  CreateJobRequestSchema,
  Job,
  ListJobsResponse,
} from "@tidemark/proto/imports/v1/imports";
import { createCall, type Call } from "@tidemark/rpc";
import type { Clients } from "../../clients.ts";
import type { HandlerContext, RouteInput, RouteReply, Schema } from "../../route.ts";
import { readBody } from "../../gate/read-body.ts";
import { object, optional } from "../fields/field.ts";
import { integer } from "../fields/number.ts";
import { text, textOrAbsent, textOrEmpty } from "../fields/text.ts";
import { listSchema, objectSchema, requireMessage, textSchema } from "../replies.ts";
import { chunkJson, countsJson, jobJson } from "./rows.ts";

/** A character has at most four bytes; the service counts characters. */
const SOURCE_PROJECT_BYTES_MAX = 4 * IMPORT_LIMITS.textCharactersMax;
const SCHEMA_VERSION = 2;

const named = text().schema;

/** Body of POST /api/imports/jobs. */
export const createJobBody = object(
  {
    source_type: text(),
    target_project: textOrAbsent(),
    project: textOrAbsent(),
    source_project: textOrEmpty({ bytesMax: SOURCE_PROJECT_BYTES_MAX }),
    schema_version: optional(integer({ min: SCHEMA_VERSION, max: SCHEMA_VERSION })),
  },
  {
    anyOf: [
      { required: ["target_project"], properties: { target_project: named } },
      { required: ["project"], properties: { project: named } },
    ],
  },
);

/** POST /api/imports/jobs. @throws bad_request */
export function decodeCreateJob({ body }: RouteInput): MessageInitShape<typeof CreateJobRequestSchema> {
  const { sourceType, sourceProject, targetProject, project } = createJobBody.read(body);
  const target = targetProject ?? project;
  if (target === undefined) throw badRequest("target_project is required", "target_project");
  return { sourceType, sourceProject, targetProject: target };
}

/** The import that a path names. */
export function decodeImportId({ params }: RouteInput): { readonly importId: string } {
  return { importId: params["import_id"]! };
}

/** `{"job": row}` */
export function encodeJob({ job }: { readonly job?: Job }): RouteReply {
  return { body: { job: jobJson(requireMessage(job)) } };
}

/** `{"imports": [row, …]}` */
export function encodeListJobs({ jobs }: ListJobsResponse): RouteReply {
  return { body: { imports: jobs.map(jobJson) } };
}

/** Milliseconds in which a commit is answered, less than the 30 s that the CLI of the published SDK waits. */
const COMMIT_MS = 28_000;

/**
 * POST /api/imports/jobs/{import_id}/commit. Answers when the job is committed; with `Prefer: respond-async` after two seconds with the current job
 * (RFC 7240).
 */
export async function handleCommitJob(
  input: RouteInput,
  clients: Clients,
  call: Call,
  { request }: HandlerContext,
): Promise<RouteReply> {
  const respondAsync = prefersAsync(request.headers["prefer"]);
  const { requestId, identity, traceparent } = call;
  const patient = createCall({ requestId, identity, traceparent, timeoutMs: COMMIT_MS });
  return encodeCommit(await clients.imports.commitJob({ ...decodeImportId(input), respondAsync }, patient));
}

function prefersAsync(header: string | readonly string[] | undefined): boolean {
  const preferences = [header ?? []].flat().join(",").split(",");
  return preferences.some((preference) => preference.trim().toLowerCase() === "respond-async");
}

/** `{"job": row, "summary": {…}}` */
function encodeCommit({ job }: CommitJobResponse): RouteReply {
  const row = requireMessage(job);
  return { body: { job: jobJson(row), summary: countsJson(row.counts) } };
}

const listOf = (
  properties: Readonly<Record<string, Schema>>,
  optional: readonly string[],
  itemsMax: number,
): Schema => ({
  ...listSchema(objectSchema(properties, optional)),
  type: ["array", "null"],
  maxItems: itemsMax,
});

const anything: Schema = {};
const objectOrNull: Schema = { type: ["object", "null"] };
const name: Schema = { type: "string", minLength: 1, maxLength: 512, pattern: "^\\S+$" };
const time: Schema = {
  type: ["string", "number", "null"],
  description: "RFC 3339, without a zone in UTC; or seconds since 1970, from 10^10 on milliseconds.",
};
const step: Schema = { type: ["number", "null"], minimum: 0 };

/** Body of POST /api/imports/jobs/{import_id}/chunks, which the service reads. */
export const chunkBodySchema: Schema = objectSchema(
  {
    schema_version: { const: 2 },
    job_id: { type: "integer", minimum: 1, description: "As in the path." },
    source_type: textSchema,
    source_project: { type: ["string", "null"] },
    target_project: textSchema,
    chunk_id: name,
    sequence: { type: "integer", minimum: 0, description: "How many chunks the job has already." },
    final: { type: ["boolean", "null"] },
    content_hash: { type: ["string", "null"] },
    runs: listOf(
      {
        source_run_id: name,
        name: { type: ["string", "null"] },
        status: { type: ["string", "null"] },
        config: objectOrNull,
        tags: { type: ["array", "null"], items: name },
        metadata: objectOrNull,
        started_at: time,
        finished_at: time,
      },
      ["name", "status", "config", "tags", "metadata", "started_at", "finished_at"],
      IMPORT_LIMITS.runsOfJobMax,
    ),
    metric_points: listOf(
      { source_run_id: name, key: name, step, value: { type: "number" }, timestamp: time },
      ["step", "timestamp"],
      IMPORT_LIMITS.pointsOfChunkMax,
    ),
    attributes: listOf(
      {
        source_run_id: name,
        path: name,
        type: textSchema,
        value: anything,
        step,
        timestamp: time,
        summary: objectOrNull,
      },
      ["step", "timestamp", "summary"],
      IMPORT_LIMITS.attributesOfChunkMax,
    ),
    artifact_refs: listOf(
      { source_run_id: name, name, uri: { type: ["string", "null"] }, type: { type: ["string", "null"] }, step },
      ["source_run_id", "uri", "type", "step"],
      IMPORT_LIMITS.artifactsOfChunkMax,
    ),
    warnings: listOf({ code: textSchema, message: textSchema }, [], IMPORT_LIMITS.warningsOfChunkMax),
  },
  ["source_project", "final", "content_hash", "runs", "metric_points", "attributes", "artifact_refs", "warnings"],
);

/** POST /api/imports/jobs/{import_id}/chunks. The body is decompressed and passed on unparsed: the service parses it, once. */
export async function handlePutChunk(
  input: RouteInput,
  clients: Clients,
  _call: Call,
  { request, account, newCall }: HandlerContext,
): Promise<RouteReply> {
  const body = await new Promise<Uint8Array>((resolve, reject) => {
    readBody(request, { bytesMax: IMPORT_LIMITS.chunkBytesMax, account }, (error, bytes) => {
      if (error !== null) reject(error);
      // A copy, because the bytes are valid only until this returns.
      else resolve(Uint8Array.from(bytes ?? []));
    });
  });
  if (body.length === 0) throw badRequest("the body must be a JSON object");
  const answer = await clients.imports.putChunk({ ...decodeImportId(input), body }, await newCall());
  const { job, chunk, duplicate } = answer;
  return { body: { job: jobJson(requireMessage(job)), chunk: chunkJson(requireMessage(chunk)), duplicate } };
}
