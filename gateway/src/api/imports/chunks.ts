import { badRequest } from "@tidemark/errors";
import { IMPORT_LIMITS } from "@tidemark/limits";
import type { Call } from "@tidemark/rpc";
import type { Clients } from "../../clients.ts";
import { readBody } from "../../gate/read-body.ts";
import type { RouteInput, RouteReply, Schema, HandlerContext } from "../../route.ts";
import { requireMessage } from "../replies.ts";
import { listSchema, objectSchema, textSchema } from "../schemas.ts";
import { decodeImportId } from "./jobs.ts";
import { chunkJson, jobJson } from "./rows.ts";

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
