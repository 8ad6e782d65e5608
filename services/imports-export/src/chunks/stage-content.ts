import { badRequest } from "@tidemark/errors";
import { IMPORT_LIMITS } from "@tidemark/limits";
import type { Tx } from "@tidemark/pg";
import type { PlanGate } from "@tidemark/plan-limits";
import type { Caller } from "@tidemark/requests";
import { namedBetween } from "../content/named-runs.rules.ts";
import type { JobRow } from "../jobs/jobs.sql.ts";
import type { PackedChunk } from "../reading/read-import.ts";
import { addChunkToJob, countNamedRuns, insertChunk, nameRuns, type ChunkRow } from "./chunks.sql.ts";
import { addWarnings, requireRoom } from "./job-limits.rules.ts";

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
