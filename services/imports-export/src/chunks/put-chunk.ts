import { createHash } from "node:crypto";
import { parseJsonObject, writeCanonical, type ExactJson } from "@tidemark/documents";
import { AppError, badRequest } from "@tidemark/errors";
import { callerOf, refuseUnpaid } from "@tidemark/requests";
import type { Fields } from "../content/read-fields.rules.ts";
import type { ImportsDeps, ImportsHandlers } from "../handlers.ts";
import { encodeJob } from "../jobs/encode-job.ts";
import type { JobRow } from "../jobs/jobs.sql.ts";
import { importId, partsOf, requireJob } from "../jobs/require-job.ts";
import { findChunk, type ChunkRow } from "./chunks.sql.ts";
import { cleanBody } from "./clean-body.rules.ts";
import { readChunk } from "./read-chunk.rules.ts";
import { redactText } from "./redact.rules.ts";
import { stageContent } from "./stage-content.ts";

/**
 * ImportsService.PutChunk. A chunk that is there already is answered whatever the organization may store.
 * @throws bad_request for what is not a JSON object, not_found, then bad_request, conflict, payment_required, plan_limit_exceeded
 */
export function putChunk({ db, gate }: Pick<ImportsDeps, "db" | "gate">): ImportsHandlers["putChunk"] {
  return async (request, call) => {
    const caller = callerOf(call);
    const { orgId } = caller;
    const body = parseJsonObject(bufferOf(request.body), true);
    const id = importId(request.importId);
    const job = await db.readTenant(orgId, (tx) => requireJob(tx, caller, id, "read"));
    const { payload, hash } = payloadOf(body);
    const read = readChunk(body, originOf(job));
    if (read.contentHash !== undefined && read.contentHash !== hash.toString("hex")) {
      requireHash(read.contentHash, request.body);
    }
    const {
      job: after,
      chunk,
      duplicate,
    } = await db.withTenant(orgId, async (tx) => {
      const locked = await requireJob(tx, caller, id, "lock");
      const known = await findChunk(tx, orgId, id, read.chunkId);
      if (known !== undefined) {
        if (Buffer.compare(known.contentHash, hash) !== 0)
          throw conflict("a chunk with this chunk_id has another content");
        return { job: encodeJob(locked, await partsOf(tx, locked)), chunk: known, duplicate: true };
      }
      requireNext(locked, read.sequence);
      refuseUnpaid(caller);
      const staged = await stageContent(tx, { gate, caller }, locked, { ...read, hash });
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

/** Redacts the body, and returns it as answers show it: without its hash, keys sorted; and the hash of that. @throws bad_request */
function payloadOf(body: Fields): { readonly payload: Buffer; readonly hash: Buffer } {
  const { content_hash: _, ...rest } = cleanBody(body);
  const payload = Buffer.from(writeCanonical(rest as ExactJson));
  return { payload, hash: createHash("sha256").update(payload).digest() };
}

/** Clients write numbers in their own way: their hash may be over the digits that they sent. @throws bad_request */
function requireHash(told: string, body: Uint8Array): void {
  const { hash } = payloadOf(parseJsonObject(bufferOf(body), "every digit"));
  if (hash.toString("hex") !== told) throw badRequest("content_hash does not match the redacted chunk", "content_hash");
}

function bufferOf({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
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
