import type { MessageInitShape } from "@bufbuild/protobuf";
import type { MetricAggregatesSchema, RunControlSchema, RunSummarySchema } from "@tidemark/proto/runs/v1/runs";
import { isStopRequested, type StopState } from "@tidemark/run-state";
import { numberColumnsOf, metricKeysOf, type MetricRow } from "../metrics/aggregates.rules.ts";
import type { RunRow } from "../store/run-row.ts";
import { present } from "./present.ts";
import { encodeRun } from "./run.ts";

/** Where a run's stop request stands; its free texts only with `details`. */
function encodeRunControl(row: RunRow, details: boolean): MessageInitShape<typeof RunControlSchema> {
  return {
    stopState: row.stop_state,
    displayStatus: row.display_status,
    stopRequested: isStopRequested(row.stop_state as StopState),
    ...present({
      stopRequestId: row.stop_request_id,
      actor: row.stop_actor,
      stopRequestedAt: row.stop_requested_at,
      stopAcknowledgedAt: row.stop_acknowledged_at,
      stopCompletedAt: row.stop_completed_at,
      updatedAt: row.stop_updated_at,
      details: details
        ? present({ reason: row.stop_reason, completionMessage: row.stop_completion_message })
        : undefined,
    }),
  };
}

/** A page of metric aggregates as columns. */
function encodeMetrics(row: MetricRow, nextCursor: string): MessageInitShape<typeof MetricAggregatesSchema> {
  return { ...numberColumnsOf(row), keys: metricKeysOf(row), keysTotal: BigInt(row.metric_total), nextCursor };
}

/** A run with its summary. Artifact counts stay zero: nothing can create artifacts yet. */
export function encodeRunSummary(
  row: RunRow & MetricRow,
  options: { readonly stopDetails: boolean; readonly nextCursor: string },
): MessageInitShape<typeof RunSummarySchema> {
  return {
    run: encodeRun(row),
    runControl: encodeRunControl(row, options.stopDetails),
    metrics: encodeMetrics(row, options.nextCursor),
    artifactCounts: {},
  };
}
