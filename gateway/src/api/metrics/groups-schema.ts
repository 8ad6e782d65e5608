import type { Schema } from "../../route.ts";
import { countSchema, listSchema, numberOrNullSchema, numberSchema, objectSchema } from "../schemas.ts";

const statistics = (description: string): Schema => ({
  type: "object",
  additionalProperties: numberOrNullSchema,
  description,
});

/** Answer of POST /api/metrics/groups. */
export const queryGroupsSchema: Schema = objectSchema({
  groups: {
    type: "array",
    description:
      "The group with the most runs first; among equals by value, column by column: numbers in ascending order, then all else by its JSON, then null.",
    items: objectSchema({
      by: {
        type: "object",
        additionalProperties: true,
        description: "The value of each column that the runs are grouped by; null where they have none.",
      },
      run_count: { ...countSchema, description: "Runs of the group." },
      series: {
        type: "array",
        description: "In the order of the keys.",
        items: objectSchema({
          key: { type: "string" },
          columns: {
            type: "object",
            description:
              "All of one length: step, where a bucket begins, and one for each of the statistics, over the means of the runs that have points in the bucket. Buckets without are left out.",
            required: ["step"],
            properties: { step: listSchema(numberSchema) },
            additionalProperties: listSchema(numberSchema),
          },
        }),
      },
      aggregates: {
        type: "array",
        description:
          "In the order of the keys: the statistics over all the points of the runs, regardless of the bounds of steps; null where no run has the key.",
        items: objectSchema({
          key: { type: "string" },
          latest: statistics("Of the latest values of the runs."),
          best: statistics("Of the best values: the highest, or the lowest of keys that are to be minimized."),
        }),
      },
    }),
  },
  requested_buckets: { type: "integer" },
  effective_buckets: { type: "integer" },
  run_count: { ...countSchema, description: "Runs that the filter lets through, or that were named." },
  total_point_cap: { type: "integer" },
});
