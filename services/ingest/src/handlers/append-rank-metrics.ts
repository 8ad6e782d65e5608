import { idempotencyHashes, type Db } from "@tidemark/pg";
import type {
  AppendRankMetricsRequest,
  AppendRankMetricsRequestSchema,
  AppendRankMetricsResponseSchema,
} from "@tidemark/proto/ingest/v1/rank_metrics";
import type { Handler } from "@tidemark/rpc";
import { checkRankPlace, checkRankValues, type RankPlace } from "../domain/rank-limits.ts";
import { appendRankMetrics } from "../store/append-rank-metrics.ts";
import type { RankLayouts } from "../store/rank-layouts.ts";
import type { RunDirectory } from "../store/run-directory.ts";
import type { RankFolder } from "../rank-folder.ts";
import { callerOf, refuseFaultyBody, runIdOf } from "./request.ts";
import { settleWrite } from "./settle-write.ts";

/** IngestService.AppendRankMetrics. @throws not_found, bad_request, idempotency_key_reused, idempotency_in_progress */
export function appendRankMetricsHandler(deps: {
  readonly db: Db;
  readonly runs: RunDirectory;
  readonly rankLayouts: RankLayouts;
  readonly rankFolder: Pick<RankFolder, "note">;
}): Handler<typeof AppendRankMetricsRequestSchema, typeof AppendRankMetricsResponseSchema> {
  const { db, runs, rankLayouts, rankFolder } = deps;
  return async (request, call) => {
    const caller = callerOf(call);
    const runId = runIdOf(request.runId);
    await refuseFaultyBody(request.bodyFault, runs, caller, runId);
    const { keys, values } = request;
    const place = placeOf(request);
    checkRankPlace(place);
    checkRankValues(keys, values);
    const { outcome, sets } = await appendRankMetrics(db, rankLayouts, {
      orgId: caller.orgId,
      runId,
      runKnown: runs.knows(caller, runId),
      onlyProject: caller.projectId,
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
    });
    for (const setId of sets) rankFolder.note({ orgId: caller.orgId, runId, setId });
    return settleWrite(outcome, runs, caller, runId);
  };
}

function placeOf({ step, rank, worldSize, localRank, weight, timestampUs }: AppendRankMetricsRequest): RankPlace {
  return { step, rank, worldSize, localRank, weight, timestampUs: timestampUs ?? null };
}
