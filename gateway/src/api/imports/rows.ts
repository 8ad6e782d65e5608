import { IMPORT_STATUSES } from "@tidemark/limits";
import type { Chunk, Counts, Job } from "@tidemark/proto/imports/v1/imports";
import { raw, type Json } from "../../http/json.ts";
import {
  booleanSchema,
  countSchema,
  listSchema,
  objectSchema,
  textOrNull,
  textOrNullSchema,
  textSchema,
  timeOrNullSchema,
  timeSchema,
  uuidOrNullSchema,
  uuidSchema,
} from "../replies.ts";

const utf8 = new TextDecoder();

const statusSchema = { type: "string", enum: IMPORT_STATUSES };

/** How much a chunk or a document holds. */
export const stagedCountsSchema = objectSchema({
  runs: countSchema,
  metrics: countSchema,
  attributes: countSchema,
  artifacts: countSchema,
});

/** Returns how much a chunk or a document holds. */
export function stagedCountsJson(counts: Counts | undefined) {
  const { runs = 0, metrics = 0, attributes = 0, artifacts = 0 } = counts ?? {};
  return { runs, metrics, attributes, artifacts };
}

/** What a job holds, and after its commit what it stored. */
export const countsSchema = objectSchema({
  ...stagedCountsSchema.properties,
  warnings: countSchema,
  updated_runs: { ...countSchema, description: "Runs that were imported before and got points." },
  skipped_runs: { ...countSchema, description: "Runs that were imported before." },
});

/** Returns what a job holds or stored. */
export function countsJson(counts: Counts | undefined) {
  const { warnings = 0, updatedRuns = 0, skippedRuns = 0 } = counts ?? {};
  return { ...stagedCountsJson(counts), warnings, updated_runs: updatedRuns, skipped_runs: skippedRuns };
}

/** An import. */
export const jobSchema = objectSchema({
  id: { type: "integer", minimum: 1, description: "Numbers the imports of the organization." },
  org_id: uuidSchema,
  project_id: { ...uuidOrNullSchema, description: "Null until the project exists." },
  source_type: textSchema,
  source_project: textOrNullSchema,
  target_project: textSchema,
  schema_version: { enum: [1, 2] },
  status: statusSchema,
  dedupe_policy: { enum: ["skip_existing", "legacy"] },
  summary: countsSchema,
  warnings: listSchema(objectSchema({ code: textSchema, message: textSchema })),
  error_summary: {
    anyOf: [objectSchema({ code: textSchema, message: textSchema }), { type: "null" }],
    description: "Why the commit failed.",
  },
  progress: objectSchema({
    state: statusSchema,
    chunks: countSchema,
    final_chunk_received: booleanSchema,
    batches: { ...countSchema, description: "Of the commit." },
    batches_done: countSchema,
    metrics_done: { ...countSchema, description: "Values that are stored." },
    resumable: { ...booleanSchema, description: "A commit goes on where the failed one ended." },
  }),
  run_ids: listSchema(uuidSchema),
  chunk_ids: listSchema(textSchema),
  accepted_chunk_count: countSchema,
  committed_batch_count: countSchema,
  created_by_user_id: uuidOrNullSchema,
  updated_at: timeSchema,
  created_at: timeSchema,
  completed_at: timeOrNullSchema,
});

/** Returns an import. */
export function jobJson(job: Job): Json {
  const { status, errorCode, errorMessage } = job;
  return {
    id: job.id,
    org_id: job.orgId,
    project_id: textOrNull(job.projectId),
    source_type: job.sourceType,
    source_project: textOrNull(job.sourceProject),
    target_project: job.targetProject,
    schema_version: job.schemaVersion,
    status,
    dedupe_policy: job.dedupePolicy,
    summary: countsJson(job.counts),
    warnings: job.warnings.map(({ code, message }) => ({ code, message })),
    error_summary: errorCode === "" ? null : { code: errorCode, message: errorMessage },
    progress: {
      state: status,
      chunks: job.chunkCount,
      final_chunk_received: job.finalChunkReceived,
      batches: job.batches,
      batches_done: job.batchesDone,
      metrics_done: job.metricsDone,
      resumable: status === "failed",
    },
    run_ids: job.runIds,
    chunk_ids: job.chunkIds,
    accepted_chunk_count: job.chunkCount,
    committed_batch_count: job.batchesDone,
    created_by_user_id: textOrNull(job.createdByUserId),
    updated_at: job.updatedAt,
    created_at: job.createdAt,
    completed_at: textOrNull(job.completedAt),
  };
}

/** A staged chunk. */
export const chunkSchema = objectSchema({
  org_id: uuidSchema,
  import_id: { type: "integer", minimum: 1 },
  chunk_id: textSchema,
  sequence: countSchema,
  content_hash: {
    type: "string",
    pattern: "^[0-9a-f]{64}$",
    description: "SHA-256 of the payload as it is written here.",
  },
  final_chunk: booleanSchema,
  payload: { type: "object", description: "The body without its content_hash, secrets redacted, keys sorted." },
  summary: objectSchema({ ...stagedCountsSchema.properties, warnings: countSchema }),
  created_at: timeSchema,
});

/** Returns a staged chunk. */
export function chunkJson(chunk: Chunk): Json {
  return {
    org_id: chunk.orgId,
    import_id: chunk.importId,
    chunk_id: chunk.chunkId,
    sequence: chunk.sequence,
    content_hash: chunk.contentHash,
    final_chunk: chunk.finalChunk,
    payload: raw(utf8.decode(chunk.payloadJson)),
    summary: { ...stagedCountsJson(chunk.counts), warnings: chunk.counts?.warnings ?? 0 },
    created_at: chunk.createdAt,
  };
}
