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
import type { RouteInput, RouteReply, HandlerContext } from "../../route.ts";
import { object, optional } from "../fields/field.ts";
import { integer } from "../fields/number.ts";
import { text, textOrAbsent, textOrEmpty } from "../fields/text.ts";
import { requireMessage } from "../replies.ts";
import { countsJson, jobJson } from "./rows.ts";

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
