import type { ChangePublisher } from "@tidemark/bus";
import { idempotencyHashes, isAnswered, type Db } from "@tidemark/pg";
import { admitWrite, callerOf, pathId, type PlanGate, type RunDirectory } from "@tidemark/requests";
import { ChangeKind } from "@tidemark/proto/changes/v1/changes";
import type {
  AppendRankMetricsRequest,
  AppendRankMetricsRequestSchema,
  AppendRankMetricsResponseSchema,
} from "@tidemark/proto/ingest/v1/rank_metrics";
import type { Handler } from "@tidemark/rpc";
import type { DirtyMarkers } from "../compaction/dirty-markers.rules.ts";
import { noteWrite, replyToWrite, throwBodyFault } from "../writes/write-steps.ts";
import { type RankLayouts, checkRankReport, checkRankValues, type RankReport } from "./rank-reports.rules.ts";
import { appendRankMetrics, type RankWrite } from "./rank-writes.sql.ts";

/** IngestService.AppendRankMetrics. @throws not_found, bad_request, payment_required, plan_limit_exceeded, idempotency_key_reused, idempotency_in_progress */
export function appendRankMetricsHandler(deps: {
  readonly db: Db;
  readonly runs: RunDirectory;
  readonly rankLayouts: RankLayouts;
  readonly rankMarkers: DirtyMarkers;
  readonly pointGate: PlanGate;
  readonly noteChange: ChangePublisher["note"];
}): Handler<typeof AppendRankMetricsRequestSchema, typeof AppendRankMetricsResponseSchema> {
  const { db, runs, rankLayouts, rankMarkers, pointGate } = deps;
  return async (request, call) => {
    const caller = callerOf(call);
    const runId = pathId(request.runId, "run");
    await throwBodyFault(request.bodyFault, runs, caller, runId);
    const { keys, values } = request;
    const report = reportOf(request);
    checkRankReport(report);
    checkRankValues(keys, values);
    // The same sets leave markers when a write is tried again.
    const asked = new Map<number, number | null>();
    const markerSeconds = (setId: number): number | null => {
      if (!asked.has(setId)) asked.set(setId, rankMarkers.next(`${runId}/${setId}`, 0));
      return asked.get(setId)!;
    };
    const forgetMarkers = (): void => asked.forEach((_, setId) => rankMarkers.forget(`${runId}/${setId}`));
    const idempotency =
      request.idempotencyKey === ""
        ? null
        : idempotencyHashes({
            key: request.idempotencyKey,
            route: "POST /runs/{run_id}/rank-metrics",
            parts: [runId, JSON.stringify([keys, report]), new Uint8Array(Float64Array.from(values).buffer)],
          });
    // A missing run takes precedence over a quota.
    await admitWrite(pointGate, caller, values.length, async () => {
      await runs.require(caller, [runId]);
      return isAnswered(db, caller.orgId, request.idempotencyKey);
    });
    const write: RankWrite = {
      orgId: caller.orgId,
      runId,
      runKnown: runs.knows(caller, runId),
      onlyProject: caller.projectId ?? null,
      idempotency,
      report,
      keys,
      values,
      markerSeconds,
    };
    const outcome = await appendRankMetrics(db, rankLayouts, write).catch((error: unknown) => {
      forgetMarkers();
      throw error;
    });
    if (outcome.outcome !== "inserted") forgetMarkers();
    const reply = replyToWrite(outcome, runs, caller, runId);
    if (!reply.replayed) noteWrite(deps, caller, { runId, kind: ChangeKind.POINTS, keys, step: report.step });
    return reply;
  };
}

function reportOf({ step, rank, worldSize, localRank, weight, timestampUs }: AppendRankMetricsRequest): RankReport {
  return { step, rank, worldSize, localRank, weight, timestampUs: timestampUs ?? null };
}
