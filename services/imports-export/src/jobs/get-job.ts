import { callerOf, type Caller } from "@tidemark/requests";
import type { MessageInitShape } from "@bufbuild/protobuf";
import type { JobSchema } from "@tidemark/proto/imports/v1/imports";
import { badRequest, notFound } from "@tidemark/errors";
import type { Tx } from "@tidemark/pg";
import type { ImportsDeps, ImportsHandlers } from "../deps.ts";
import type { ImportWarning } from "../content/content.rules.ts";
import { batchesOf } from "./job.rules.ts";
import {
  findJob,
  findProjectName,
  listJobParts,
  lockJob,
  type JobParts,
  type JobRow,
  listJobs as listRows,
} from "./jobs.sql.ts";

/** ImportsService.GetJob. @throws not_found */
export function getJob({ db }: Pick<ImportsDeps, "db">): ImportsHandlers["getJob"] {
  return async (request, call) => {
    const caller = callerOf(call);
    const id = importId(request.importId);
    const job = await db.readTenant(caller.orgId, async (tx) => {
      const row = await requireJob(tx, caller, id, "read");
      return encodeJob(row, await partsOf(tx, row));
    });
    return { job };
  };
}

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

const ID_MAX = 2_147_483_647;

/** Returns the number of an import that a path names. @throws not_found for a text that is not a number */
export function importId(text: string): number {
  const id = /^[1-9]\d{0,9}$/.test(text) ? Number(text) : 0;
  if (id < 1 || id > ID_MAX) throw notFound("import");
  return id;
}

/** Returns an import that the caller may see, locked if need be. @throws not_found */
export async function requireJob(tx: Tx, caller: Caller, id: number, lock: "lock" | "read"): Promise<JobRow> {
  const job = await (lock === "lock" ? lockJob : findJob)(tx, caller.orgId, id);
  if (job === undefined || !(await isVisible(tx, caller, job))) throw notFound("import");
  return job;
}

/** An import is removed with its project. A project-scoped key sees imports into its project, also those that were made before the project. */
async function isVisible(tx: Tx, { orgId, projectId: own }: Caller, job: JobRow): Promise<boolean> {
  if (own !== undefined && job.projectId !== null && job.projectId !== own) return false;
  const projectId = job.projectId ?? own;
  if (projectId === undefined) return true;
  const name = await findProjectName(tx, orgId, projectId);
  return name !== undefined && (job.projectId !== null || name === job.targetProject);
}

/** Runs and chunks that an answer with one import shows: the most that a job may have. */
const PARTS_MAX = 50_000;

/** Returns the part of an import's runs and chunks that an answer shows. */
export async function partsOf(tx: Tx, { orgId, id }: JobRow): Promise<JobParts> {
  return (await listJobParts(tx, orgId, [id], PARTS_MAX))[0]!;
}

/** Requires a text of imports. @throws bad_request */
export function requireText(value: string, name: string, bytesMax: number): string {
  const text = value.trim();
  const bytes = Buffer.byteLength(text);
  if (bytes >= 1 && bytes <= bytesMax && !text.includes("\0")) return text;
  throw badRequest(`${name} must have 1 to ${bytesMax} bytes`, name);
}

/** Runs and chunks that a list shows of each import. */
const LISTED_PARTS_MAX = 100;

/** ImportsService.ListJobs: the newest first; a project-scoped key sees imports into its project. */
export function listJobs({ db }: Pick<ImportsDeps, "db">): ImportsHandlers["listJobs"] {
  return async (_request, call) => {
    const { orgId, projectId } = callerOf(call);
    return db.readTenant(
      orgId,
      async (tx) => {
        const rows = await listRows(tx, orgId, projectId);
        const ids = rows.map(({ id }) => id);
        const parts = new Map((await listJobParts(tx, orgId, ids, LISTED_PARTS_MAX)).map((part) => [part.id, part]));
        return { jobs: rows.map((row) => encodeJob(row, parts.get(row.id)!)) };
      },
      { plans: "walks" },
    );
  };
}
