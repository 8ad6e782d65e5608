import type { MessageInitShape } from "@bufbuild/protobuf";
import type { CorrelateRunsRequestSchema, CorrelateRunsResponse } from "@tidemark/proto/runs/v1/runs";
import type { RouteInput, RouteReply, Schema } from "../../route.ts";
import { checked, described, list, object, optional, someOf } from "../fields/field.ts";
import { text, uuid } from "../fields/text.ts";
import { countSchema, numberOrNullSchema, objectSchema } from "../replies.ts";
import { bodyFilter, requireOneChoice } from "./body-filter.ts";

/** Body of POST /api/runs/correlations. */
export const correlateRunsBody = checked(
  object({
    metric: described(
      text({ bytesMax: 600 }),
      "A metric key, with an optional .latest, .best, .min, .max, .mean or .count behind it; the latest value by default.",
    ),
    columns: described(
      optional(list(text({ bytesMax: 600 }))),
      "At most 300 columns as in GET /api/runs/summary. Without any: all numbers of the configs whose names have at most 512 bytes, of which those that go together most are answered.",
    ),
    filter: optional(bodyFilter),
    run_ids: described(optional(list(uuid(), { itemsMin: 1 })), "At most 10,000 runs, instead of a filter."),
  }),
  requireOneChoice,
  { oneOf: [someOf("filter"), someOf("run_ids")] },
);

/** POST /api/runs/correlations. @throws bad_request */
export function decodeCorrelateRuns({ body }: RouteInput): MessageInitShape<typeof CorrelateRunsRequestSchema> {
  const { metric, columns, filter, runIds } = correlateRunsBody.read(body);
  return {
    metric,
    columns: [...new Set(columns ?? [])],
    runIds: [...new Set(runIds ?? [])],
    ...(filter === undefined ? {} : { filter }),
  };
}

/** Answer of POST /api/runs/correlations. */
export const correlationsSchema: Schema = objectSchema({
  metric: { type: "string", description: "The metric as a column." },
  run_count: { ...countSchema, description: "Runs that the filter lets through, or that were named." },
  correlations: {
    type: "array",
    description: "In the order of columns; without columns the strongest correlation of ranks first, at most 300.",
    items: objectSchema({
      column: { type: "string" },
      run_count: { ...countSchema, description: "Runs that have both numbers." },
      pearson: { ...numberOrNullSchema, description: "-1 to 1; null where one of both does not vary." },
      spearman: {
        ...numberOrNullSchema,
        description: "The same of the ranks; equal values share the mean of their ranks.",
      },
    }),
  },
});

/** `{metric, run_count, correlations}`. */
export function encodeCorrelateRuns({ metric, runCount, correlations }: CorrelateRunsResponse): RouteReply {
  return {
    body: {
      metric,
      run_count: runCount,
      correlations: correlations.map(({ column, runCount: both, pearson, spearman }) => ({
        column,
        run_count: both,
        pearson: pearson ?? null,
        spearman: spearman ?? null,
      })),
    },
  };
}
