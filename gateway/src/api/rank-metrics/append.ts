import type { MessageInitShape } from "@bufbuild/protobuf";
import { badRequest } from "@tidemark/errors";
import type { AppendRankMetricsRequestSchema, AppendRankMetricsResponse } from "@tidemark/proto/ingest/v1/rank_metrics";
import type { RouteInput, RouteReply } from "../../route.ts";
import { present, readInteger, readNumber, readOptionalInteger, withFault, type Fields } from "../fields/index.ts";
import { readMetricPoint } from "../metrics/append.ts";

/** Most ranks (API specification, Limits). */
export const WORLD_SIZE_MAX = 512;

/** POST /runs/{run_id}/rank-metrics as a message; faults of the body travel in it, because a missing run goes before them. */
export function decodeAppendRankMetrics(input: RouteInput): MessageInitShape<typeof AppendRankMetricsRequestSchema> {
  const { value, fault } = withFault(() => readReport(input.body));
  return {
    runId: input.params["run_id"]!,
    idempotencyKey: input.idempotencyKey ?? "",
    ...value,
    bodyFault: fault,
  };
}

/** `{"inserted": n}`, the number of values. */
export function encodeAppendRankMetrics(response: AppendRankMetricsResponse): RouteReply {
  return { body: { inserted: response.inserted }, replayed: response.replayed };
}

function readReport(body: Fields) {
  const { keys, values, steps, timestampsUs } = readMetricPoint(body);
  const rank = readInteger(body, "rank", { min: 0 });
  const worldSize = readInteger(body, "world_size", { min: 1, max: WORLD_SIZE_MAX });
  const localRank = readOptionalInteger(body, "local_rank", { min: 0 }) ?? rank;
  if (rank >= worldSize) throw badRequest("rank must be below world_size", "rank");
  if (localRank >= worldSize) throw badRequest("local_rank must be below world_size", "local_rank");
  return {
    keys,
    values,
    step: steps![0]!,
    rank,
    worldSize,
    localRank,
    weight: readWeight(body),
    timestampUs: timestampsUs![0],
  };
}

function readWeight(body: Fields): number {
  if (present(body, "weight") === undefined) return 1;
  const weight = readNumber(body, "weight");
  if (weight <= 0) throw badRequest("weight must be a finite number above 0", "weight");
  return weight;
}
