import { AppError, badRequest, isAppError, notFound } from "@tidemark/errors";
import type { Db, Tx } from "@tidemark/pg";
import { callerOf, refuseUnpaid, type Caller, type PlanGate } from "@tidemark/requests";
import { IMPORT_LIMITS } from "@tidemark/limits";
import type { ImportsDeps, ImportsHandlers } from "../deps.ts";
import { encodeJob, importId as readImportId, partsOf, requireJob } from "../jobs/get-job.ts";
import type { JobRow } from "../jobs/jobs.sql.ts";
import { namedBetween } from "../content/named-runs.rules.ts";
import type { PackedChunk } from "../reading/read-import.ts";
import { addChunkToJob, countNamedRuns, findChunk, insertChunk, nameRuns, type ChunkRow } from "./chunks.sql.ts";
import { redactText } from "./clean-body.rules.ts";
import { addWarnings, requireRoom } from "./job-limits.rules.ts";

/**
 * ImportsService.PutChunk. A chunk that already exists is answered regardless of how much the organization may store.
 * @throws bad_request for anything but a JSON object, not_found, then bad_request, conflict, payment_required, plan_limit_exceeded;
 * service_unavailable when too many are being read
 */
export function putChunk({
  db,
  gate,
  readers,
}: Pick<ImportsDeps, "db" | "gate" | "readers">): ImportsHandlers["putChunk"] {
  return async (request, call) => {
    const caller = callerOf(call);
    const { orgId } = caller;
    const found = await findTarget(db, caller, request.importId);
    const read = await readers.chunk(orgId, request.body, found && originOf(found));
    if (found === undefined || read === undefined) throw notFound("import");
    const { id } = found;
    const { chunk: sent, payload } = read;
    const {
      job: after,
      chunk,
      duplicate,
    } = await db.withTenant(orgId, async (tx) => {
      const locked = await requireJob(tx, caller, id, "lock");
      const known = await findChunk(tx, orgId, id, sent.chunkId);
      if (known !== undefined) {
        if (Buffer.compare(known.contentHash, sent.hash) !== 0)
          throw conflict("a chunk with this chunk_id has another content");
        return { job: encodeJob(locked, await partsOf(tx, locked)), chunk: known, duplicate: true };
      }
      requireNext(locked, sent.sequence);
      refuseUnpaid(caller);
      const staged = await stageContent(tx, { gate, caller }, locked, sent);
      return { job: encodeJob(staged.job, await partsOf(tx, staged.job)), chunk: staged.chunk, duplicate: false };
    });
    return { job: after, chunk: { ...encodeChunk(chunk), orgId, importId: id, payloadJson: payload }, duplicate };
  };
}

function conflict(text: string): AppError {
  return new AppError("conflict", text);
}

/** @throws conflict */
function requireNext({ status, chunks }: JobRow, sequence: number): void {
  if (status !== "created" && status !== "uploading") throw conflict(`a job that is ${status} takes no new chunks`);
  if (sequence !== chunks) throw conflict(`the next chunk of this job has the sequence ${chunks}`);
}

/** Returns the job of a path; undefined if the caller cannot see one. The caller then reports faults of the body first. */
async function findTarget(db: Db, caller: Caller, importId: string): Promise<JobRow | undefined> {
  try {
    const id = readImportId(importId);
    return await db.readTenant(caller.orgId, (tx) => requireJob(tx, caller, id, "read"));
  } catch (error) {
    if (isAppError(error) && error.reason === "not_found") return undefined;
    throw error;
  }
}

/** Texts of jobs are compared with those of redacted chunks. */
function originOf({ id, sourceType, sourceProject, targetProject }: JobRow) {
  return {
    jobId: id,
    sourceType: redactText(sourceType),
    sourceProject: sourceProject === null ? null : redactText(sourceProject),
    targetProject: redactText(targetProject),
  };
}

function encodeChunk(row: ChunkRow) {
  const { runs, metrics, attributes, artifacts, warnings } = row;
  return {
    chunkId: row.chunkId,
    sequence: row.sequence,
    contentHash: Buffer.from(row.contentHash).toString("hex"),
    finalChunk: row.isFinal,
    counts: { runs, metrics, attributes, artifacts, warnings },
    createdAt: row.createdAt,
  };
}

/** Runs that one statement names: their texts are made in a few milliseconds. */
const NAMED_TOGETHER = 5000;

/**
 * Stages a chunk of a job that this transaction has locked. The last chunk requires that all named runs are defined.
 * @throws bad_request, then plan_limit_exceeded
 */
export async function stageContent(
  tx: Tx,
  { gate, caller }: { readonly gate: PlanGate; readonly caller: Caller },
  job: JobRow,
  chunk: PackedChunk,
): Promise<{ readonly job: JobRow; readonly chunk: ChunkRow }> {
  const { orgId, id } = job;
  const { content, sequence } = chunk;
  const { counts, packed, named: names } = content;
  requireRoom({ ...job, bytes: job.stagedBytes }, { ...counts, chunks: 1, bytes: packed.length });
  for (let from = 0; from < names.places.length; from += NAMED_TOGETHER) {
    await nameRuns(tx, orgId, id, sequence, namedBetween(names, from, NAMED_TOGETHER));
  }
  const named = await countNamedRuns(tx, orgId, id);
  if (named.runs > IMPORT_LIMITS.runsOfJobMax)
    throw badRequest(`a job must have at most ${IMPORT_LIMITS.runsOfJobMax} runs`);
  if (chunk.isFinal && named.undefined > 0) {
    throw badRequest("metric_points, attributes and artifact_refs must name runs of the job", "source_run_id");
  }
  await gate.admit(caller, packed.length);
  const row = {
    chunkId: chunk.chunkId,
    sequence,
    contentHash: chunk.hash,
    isFinal: chunk.isFinal,
    ...counts,
    warnings: chunk.warningCount,
  };
  const stored = await insertChunk(tx, orgId, id, { ...row, content: packed });
  const warnings = addWarnings(job.warnings, chunk.warnings);
  return { job: await addChunkToJob(tx, orgId, id, row, { bytes: packed.length, ...warnings }), chunk: stored };
}
