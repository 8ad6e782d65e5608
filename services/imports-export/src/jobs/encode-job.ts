import type { MessageInitShape } from "@bufbuild/protobuf";
import type { JobSchema } from "@tidemark/proto/imports/v1/imports";
import type { ImportWarning } from "../content/content.rules.ts";
import { batchesOf } from "../commit/batches.rules.ts";
import type { JobParts, JobRow } from "./jobs.sql.ts";

/** Writes an import as the message that answers carry. */
export function encodeJob(row: JobRow, parts: Omit<JobParts, "id">): MessageInitShape<typeof JobSchema> {
  return {
    id: row.id,
    orgId: row.orgId,
    projectId: row.projectId ?? "",
    sourceType: row.sourceType,
    sourceProject: row.sourceProject ?? "",
    targetProject: row.targetProject,
    schemaVersion: row.schemaVersion,
    status: row.status,
    dedupePolicy: row.dedupePolicy,
    counts: countsOf(row),
    warnings: JSON.parse(row.warnings) as ImportWarning[],
    errorCode: row.errorCode ?? "",
    errorMessage: row.errorMessage ?? "",
    finalChunkReceived: row.finalReceived,
    runIds: [...parts.runIds],
    chunkIds: [...parts.chunkIds],
    chunkCount: row.chunks,
    batches: batchesOf(row.chunks),
    batchesDone: row.batchesDone,
    metricsDone: row.metricsStored,
    createdByUserId: row.createdByUserId ?? "",
    createdAt: row.createdAt,
    updatedAt: row.updatedAt,
    completedAt: row.completedAt ?? "",
  };
}

/** The stored amounts once the import is complete, the staged amounts before that. */
export function countsOf(row: JobRow) {
  const isComplete = row.status === "committed" || row.status === "completed";
  return {
    runs: isComplete ? row.runsStored : row.runs,
    updatedRuns: row.runsUpdated,
    skippedRuns: row.runsSkipped,
    metrics: isComplete ? row.metricsStored : row.metrics,
    attributes: isComplete ? row.attributesStored : row.attributes,
    artifacts: isComplete ? row.artifactsStored : row.artifacts,
    warnings: row.warningCount,
  };
}
