import type { Schema } from "../route.ts";
import { COMPARED_RUNS_MAX } from "./runs-compare-request.ts";
import { runSchema } from "./runs-schemas.ts";

/** Query of GET /api/runs/side-by-side. */
export const compareRunsQuery: Readonly<Record<string, Schema>> = {
  run_ids: {
    type: "string",
    description: `Ids of 1 to ${COMPARED_RUNS_MAX} runs, separated by commas; one that is named twice counts once.`,
  },
  runs: { type: "string", description: "The same, where run_ids is left out." },
  reference_run_id: {
    type: "string",
    description:
      "The run that the others are compared with. Default, also for what is none of the runs: the first one.",
  },
  diff_only: { type: "string", description: "`true`: only the rows in which the runs differ." },
};

/** Answer of GET /api/runs/side-by-side. */
export const comparisonSchema: Schema = {
  type: "object",
  required: ["runs", "reference_run_id", "rows", "truncated"],
  properties: {
    runs: { type: "array", items: runSchema, description: "In the order in which they were asked for." },
    reference_run_id: { type: "string", format: "uuid" },
    rows: {
      type: "array",
      maxItems: 5000,
      description: "By path, in the order of code points.",
      items: {
        type: "object",
        required: ["path", "values", "reference_run_id", "reference", "different"],
        properties: {
          path: {
            type: "string",
            description:
              "`attribute/<path>` (its newest value), `config/<top key>`, `metadata/<top key>`, `metric/<key>/latest`, `…/max`, `…/mean`, `tag/<tag>`.",
          },
          values: {
            type: "object",
            additionalProperties: true,
            description: "By run id; null where a run has none.",
          },
          reference_run_id: { type: "string", format: "uuid" },
          reference: { description: "The value of the reference run." },
          different: { type: "boolean", description: "Whether the runs differ in it." },
        },
      },
    },
    truncated: {
      type: "boolean",
      description:
        "There is more to compare: more than 5,000 rows, more than 32 MiB of values, or more than 3,000,000 values to look at.",
    },
  },
};
