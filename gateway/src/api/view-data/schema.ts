import type { Schema } from "../../route.ts";
import { pointSchema } from "../metrics/point-schema.ts";
import { aggregateSchema, runSummarySchema } from "../runs/rows.ts";
import {
  booleanSchema,
  countSchema,
  listSchema,
  numberOrNullSchema,
  objectSchema,
  textOrNullSchema,
  textSchema,
  timeSchema,
  uuidSchema,
} from "../schemas.ts";
import { panelFieldNames } from "./panels.ts";

const series = objectSchema({
  run_id: uuidSchema,
  metrics: listSchema(pointSchema),
  truncated: booleanSchema,
  sampled: booleanSchema,
});

const summaryValue = objectSchema({
  run_id: uuidSchema,
  latest: numberOrNullSchema,
  aggregate: { anyOf: [aggregateSchema, { type: "null" }] },
});

const panel = objectSchema(
  {
    id: textSchema,
    title: textSchema,
    type: textSchema,
    section_id: textSchema,
    section_name: textSchema,
    metric_key: textSchema,
    ...Object.fromEntries(panelFieldNames.map((name) => [name, textSchema])),
    data_kind: { type: "string", enum: ["metric_series", "metric_summary"] },
    series_key: { ...textOrNullSchema, description: "Of the series in metric_series that a line panel shows." },
    summary_values: listSchema(summaryValue),
    warnings: listSchema(textSchema),
  },
  panelFieldNames,
);

/** The data of a view, as it is answered. */
export const viewDataSchema: Schema = objectSchema({
  view_data: objectSchema({
    schema_version: { const: 1 },
    generated_at: timeSchema,
    run_ids: listSchema(uuidSchema),
    runs: listSchema(runSummarySchema),
    metric_keys: listSchema(textSchema),
    metric_series: listSchema(objectSchema({ metric_key: textSchema, series: listSchema(series) })),
    panels: listSchema(panel),
    warnings: listSchema(textSchema),
    limits: objectSchema({
      run_ids: countSchema,
      panels: countSchema,
      points_per_series: countSchema,
      max_points_per_series: countSchema,
      total_points: countSchema,
      max_total_points: countSchema,
      max_response_bytes: countSchema,
    }),
  }),
});
