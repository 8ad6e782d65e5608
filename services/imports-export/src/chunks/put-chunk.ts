import { AppError, isAppError, notFound } from "@tidemark/errors";
import type { Db } from "@tidemark/pg";
import { callerOf, refuseUnpaid, type Caller } from "@tidemark/requests";
import type { ImportsDeps, ImportsHandlers } from "../deps.ts";
import { encodeJob } from "../jobs/encode-job.ts";
import type { JobRow } from "../jobs/jobs.sql.ts";
import { importId as readImportId, partsOf, requireJob } from "../jobs/require-job.ts";
import { findChunk, type ChunkRow } from "./chunks.sql.ts";
import { redactText } from "./redact.rules.ts";
import { stageContent } from "./stage-content.ts";

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
