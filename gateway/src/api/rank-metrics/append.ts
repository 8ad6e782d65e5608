import type { MessageInitShape } from "@bufbuild/protobuf";
import { badRequest } from "@tidemark/errors";
import type { AppendRankMetricsRequestSchema, AppendRankMetricsResponse } from "@tidemark/proto/ingest/v1/rank_metrics";
import { WORLD_SIZE_MAX } from "@tidemark/limits";
import type { RouteInput, RouteReply } from "../../route.ts";
import {
  described,
  join,
  object,
  optional,
  readField,
  required,
  withDefault,
  withFault,
  type Fields,
} from "../fields/field.ts";
import { number, integer } from "../fields/number.ts";
import { metricPoint, readMetricPoint } from "../metrics/append.ts";

const report = object({
  rank: described(integer({ min: 0 }), "Below `world_size`.", { maximum: WORLD_SIZE_MAX - 1 }),
  world_size: integer({ min: 1, max: WORLD_SIZE_MAX }),
  local_rank: described(
    optional(integer({ min: 0 })),
    "The rank among those of one machine, below `world_size`; `rank` unless given.",
    { maximum: WORLD_SIZE_MAX - 1 },
  ),
});

const anyWeight = number();
const weight = described(
  withDefault(
    required({ type: "number", exclusiveMinimum: 0 }, (value, name) => {
      const found = anyWeight.check(value, name);
      if (found <= 0) throw badRequest(`${name} must be a finite number above 0`, name);
      return found;
    }),
    1,
    { default: 1 },
  ),
  "The share of the rank in weighted means.",
);

/** Body of POST /runs/{run_id}/rank-metrics: a metric point and its rank. */
export const appendRankMetricsBody = join(join(metricPoint, report), object({ weight }));

/** POST /runs/{run_id}/rank-metrics. Faults of the body travel in the message, because a missing run takes precedence. */
export function decodeAppendRankMetrics({
  params,
  body,
  idempotencyKey = "",
}: RouteInput): MessageInitShape<typeof AppendRankMetricsRequestSchema> {
  const { value, fault } = withFault(() => readReport(body));
  return { runId: params["run_id"]!, idempotencyKey, ...value, bodyFault: fault };
}

/** `{"inserted": n}`, the number of values. */
export function encodeAppendRankMetrics(response: AppendRankMetricsResponse): RouteReply {
  return { body: { inserted: response.inserted }, replayed: response.replayed };
}

function readReport(body: Fields) {
  const { keys, values, steps, timestampsUs } = readMetricPoint(body);
  const { rank, worldSize, localRank = rank } = report.read(body);
  if (rank >= worldSize) throw badRequest("rank must be below world_size", "rank");
  if (localRank >= worldSize) throw badRequest("local_rank must be below world_size", "local_rank");
  return {
    keys,
    values,
    step: steps![0]!,
    rank,
    worldSize,
    localRank,
    weight: readField(weight, body, "weight"),
    timestampUs: timestampsUs![0],
  };
}
