import type { MessageInitShape } from "@bufbuild/protobuf";
import type { AppendMetricsRequestSchema, AppendMetricsResponse } from "@tidemark/proto/ingest/v1/ingest";
import type { RouteInput, RouteReply } from "../route.ts";
import { withFault } from "./fields.ts";
import { readMetricBatch, readMetricPoint } from "./metrics-columns.ts";

/** POST /runs/{run_id}/metrics as a message; faults of the body travel in it, because a missing run goes before them. */
export function decodeAppendPoint(input: RouteInput): MessageInitShape<typeof AppendMetricsRequestSchema> {
  const { value, fault } = withFault(() => readMetricPoint(input.body));
  return { ...target(input), columns: value, bodyFault: fault };
}

/** POST /runs/{run_id}/metrics/batch as a message, in the same way. */
export function decodeAppendBatch(input: RouteInput): MessageInitShape<typeof AppendMetricsRequestSchema> {
  const { value, fault } = withFault(() => readMetricBatch(input.body));
  return { ...target(input), batch: true, columns: value, bodyFault: fault };
}

/** `{"inserted": n}`, the number of values. */
export function encodeAppendMetrics(response: AppendMetricsResponse): RouteReply {
  return { body: { inserted: response.inserted }, replayed: response.replayed };
}

function target(input: RouteInput): { runId: string; idempotencyKey: string } {
  return { runId: input.params["run_id"]!, idempotencyKey: input.idempotencyKey ?? "" };
}
