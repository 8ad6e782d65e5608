import { WORLD_SIZE_MAX } from "@tidemark/limits";
import { route, type Route, type Schema } from "../../route.ts";
import { ingestCallers, readCallers } from "../callers.ts";
import { countSchema, numberOrNullSchema, numberSchema, objectSchema, valueSchema } from "../replies.ts";
import {
  appendRankMetricsBody,
  decodeAppendRankMetrics,
  decodeSummariseRankMetrics,
  encodeAppendRankMetrics,
  encodeSummariseRankMetrics,
  summarizeRanksQuery,
} from "./rank-metrics.ts";

const step: Schema = { type: "number", minimum: 0 };
const rank: Schema = { type: "integer", minimum: 0, maximum: WORLD_SIZE_MAX - 1 };
const worldSize: Schema = { type: "integer", minimum: 1, maximum: WORLD_SIZE_MAX };
const delta: Schema = {
  type: ["number", "null"],
  description: "Null where a double cannot hold the difference, and where the value is not finite.",
};

const perStep = {
  step,
  rank_count: { ...countSchema, description: "Ranks that reported." },
  expected_world_size: { ...worldSize, description: "The largest world size that a rank reported." },
  world_size_mismatch: { type: "boolean", description: "Not all ranks reported the same world size." },
} satisfies Record<string, Schema>;

/** Rank metrics: what each process of a distributed training reports, and how the processes compare. */
export const rankMetricsRoutes: readonly Route[] = [
  route({
    method: "POST",
    path: "/runs/{run_id}/rank-metrics",
    tag: "metrics",
    summary: "Log the metrics of one rank at one step",
    description:
      "They are kept apart from the run's own metrics. Of several values of one key, step and rank the newest counts.",
    callers: ingestCallers,
    rate: "ingest",
    isHeartbeat: true,
    idempotency: "optional",
    body: "required",
    bodyBytesMax: 4 * 1024 * 1024,
    bareTokens: true,
    schemas: {
      body: appendRankMetricsBody.schema,
      response: objectSchema({ inserted: { type: "integer", description: "Values that were stored." } }),
    },
    statuses: [200, 400, 401, 402, 403, 404, 409],
    decode: decodeAppendRankMetrics,
    rpc: (clients, request, call) => clients.ingest.appendRankMetrics(request, call),
    encode: encodeAppendRankMetrics,
  }),
  route({
    method: "GET",
    path: "/api/runs/{run_id}/rank-metrics/summary",
    tag: "metrics",
    summary: "How the ranks compare in one metric",
    description:
      "The newest steps of one key in ascending order, with the ranks of each taken together. If ranks " +
      "times steps would exceed 65,536, the limit is lowered.",
    callers: readCallers,
    rate: "general",
    idempotency: "none",
    schemas: {
      query: summarizeRanksQuery.schema,
      response: objectSchema({
        keys: { type: "array", items: { type: "string" }, description: "Up to 200 keys, or the one asked for." },
        key: { type: ["string", "null"], description: "Null when the run has no rank metrics." },
        reducers: {
          type: "array",
          description: "Over the finite values; null without any.",
          items: objectSchema(
            {
              ...perStep,
              mean: numberOrNullSchema,
              weighted_mean: numberOrNullSchema,
              min: numberOrNullSchema,
              max: numberOrNullSchema,
              stddev: { ...numberOrNullSchema, description: "Of the population." },
              p05: numberOrNullSchema,
              p50: numberOrNullSchema,
              p95: numberOrNullSchema,
              non_finite: {
                ...countSchema,
                description: "Ranks that reported NaN or an infinity; left out without any.",
              },
            },
            ["non_finite"],
          ),
        },
        heatmap: {
          type: "array",
          description: "By step, then by rank. Of more than 16,384 cells, those of evenly spaced steps.",
          items: objectSchema({ step, rank, value: valueSchema, delta_from_mean: delta }),
        },
        outliers: {
          type: "array",
          maxItems: 20,
          description: "The farthest from the mean of their step first, in standard deviations.",
          items: objectSchema({ rank, step, value: numberSchema, delta_from_mean: delta, z_score: numberSchema }),
        },
        coverage: {
          type: "array",
          items: objectSchema({
            ...perStep,
            missing_rank_count: countSchema,
            missing_ranks: {
              type: "array",
              items: rank,
              description: "Empty also where more than 128 ranks are expected.",
            },
          }),
        },
        limits: objectSchema({
          step_limit: { ...countSchema, description: "The limit that was applied." },
          max_world_size: countSchema,
          max_canonical_rows: countSchema,
          max_heatmap_cells: countSchema,
          outlier_limit: countSchema,
        }),
        truncated: objectSchema({
          steps: { type: "boolean", description: "The limit was lowered because of the number of ranks." },
          heatmap: { type: "boolean" },
          outliers: { type: "boolean" },
        }),
      }),
    },
    statuses: [200, 400, 401, 403, 404],
    decode: decodeSummariseRankMetrics,
    rpc: (clients, request, call) => clients.ingestRead.summariseRankMetrics(request, call),
    encode: encodeSummariseRankMetrics,
  }),
];
