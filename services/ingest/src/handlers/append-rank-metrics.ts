import { idempotencyHashes, type Db } from "@tidemark/pg";
import type {
  AppendRankMetricsRequest,
  AppendRankMetricsRequestSchema,
  AppendRankMetricsResponseSchema,
} from "@tidemark/proto/ingest/v1/rank_metrics";
import { callerOf, pathId } from "@tidemark/requests";
import type { Handler } from "@tidemark/rpc";
import type { WriteMarks } from "../compaction/write-marks.ts";
import { checkRankPlace, checkRankValues, type RankPlace } from "../domain/rank-limits.ts";
import { appendRankMetrics, type RankWrite } from "../store/append-rank-metrics.ts";
import type { RankLayouts } from "../store/rank-layouts.ts";
import type { RunDirectory } from "../runs/run-directory.ts";
import { replyToWrite, throwBodyFault } from "../writes/write-steps.ts";

/** IngestService.AppendRankMetrics. @throws not_found, bad_request, idempotency_key_reused, idempotency_in_progress */
export function appendRankMetricsHandler(deps: {
  readonly db: Db;
  readonly runs: RunDirectory;
  readonly rankLayouts: RankLayouts;
  readonly rankMarks: WriteMarks;
}): Handler<typeof AppendRankMetricsRequestSchema, typeof AppendRankMetricsResponseSchema> {
  const { db, runs, rankLayouts, rankMarks } = deps;
  return async (request, call) => {
    const caller = callerOf(call);
    const runId = pathId(request.runId, "run");
    await throwBodyFault(request.bodyFault, runs, caller, runId);
    const { keys, values } = request;
    const place = placeOf(request);
    checkRankPlace(place);
    checkRankValues(keys, values);
    // Of a write that is tried again, the same sets leave marks.
    const asked = new Map<number, number | null>();
    const markSeconds = (setId: number): number | null => {
      if (!asked.has(setId)) asked.set(setId, rankMarks.next(`${runId}/${setId}`, 0));
      return asked.get(setId)!;
    };
    const forgetMarks = (): void => asked.forEach((_, setId) => rankMarks.forget(`${runId}/${setId}`));
    const write: RankWrite = {
      orgId: caller.orgId,
      runId,
      runKnown: runs.knows(caller, runId),
      onlyProject: caller.projectId ?? null,
      idempotency:
        request.idempotencyKey === ""
          ? null
          : idempotencyHashes({
              key: request.idempotencyKey,
              route: "POST /runs/{run_id}/rank-metrics",
              parts: [runId, JSON.stringify([keys, place]), new Uint8Array(Float64Array.from(values).buffer)],
            }),
      place,
      keys,
      values,
      markSeconds,
    };
    const outcome = await appendRankMetrics(db, rankLayouts, write).catch((error: unknown) => {
      forgetMarks();
      throw error;
    });
    if (outcome.outcome !== "inserted") forgetMarks();
    return replyToWrite(outcome, runs, caller, runId);
  };
}

function placeOf({ step, rank, worldSize, localRank, weight, timestampUs }: AppendRankMetricsRequest): RankPlace {
  return { step, rank, worldSize, localRank, weight, timestampUs: timestampUs ?? null };
}
