import { ATTRIBUTE_TYPES, EXPORT_LIMITS, OBJECT_KINDS } from "@tidemark/limits";
import type { Schema } from "../../route.ts";
import { artifactSchema } from "../artifacts/rows.ts";
import { attributeSchema } from "../attributes/list.ts";
import { jobSchema } from "../imports/rows.ts";
import { organizationSchema } from "../organizations/rows.ts";
import { projectSchema } from "../projects/projects.ts";
import { runSchema } from "../runs/rows.ts";
import {
  booleanSchema,
  countSchema,
  listSchema,
  numberOrNullSchema,
  numberSchema,
  objectSchema,
  textSchema,
  timeSchema,
  uuidSchema,
} from "../schemas.ts";

const seriesSchema = objectSchema({
  run_id: uuidSchema,
  key: textSchema,
  count: countSchema,
  min: numberSchema,
  max: numberSchema,
  mean: numberSchema,
  variance: numberOrNullSchema,
  latest: numberSchema,
  latest_step: numberSchema,
  best: numberSchema,
  best_step: numberSchema,
});

const pointSchema = objectSchema(
  {
    org_id: uuidSchema,
    run_id: uuidSchema,
    key: textSchema,
    step: numberSchema,
    value: numberSchema,
    created_at: timeSchema,
    timestamp: timeSchema,
  },
  ["timestamp"],
);

const exportedAttributeSchema = objectSchema({
  ...attributeSchema.properties,
  type: { type: "string", enum: [...ATTRIBUTE_TYPES, ...OBJECT_KINDS] },
});

const tableRowSchema = objectSchema({
  org_id: uuidSchema,
  run_id: uuidSchema,
  attribute_id: { ...countSchema, description: "The table, which is among the attributes." },
  row_index: countSchema,
  row: { type: "object" },
  created_at: timeSchema,
});

const bounded = (items: Schema, maxItems: number): Schema => ({ ...listSchema(items), maxItems });

/** Answer of GET /api/export as JSON. */
export const exportSchema: Schema = objectSchema({
  version: { type: "integer", const: 1 },
  exported_at: timeSchema,
  generated_at: timeSchema,
  organizations: { ...listSchema(organizationSchema), minItems: 1, maxItems: 1 },
  projects: bounded(projectSchema, EXPORT_LIMITS.runs),
  runs: bounded(runSchema, EXPORT_LIMITS.runs),
  metric_series: bounded(seriesSchema, EXPORT_LIMITS.metricSeries),
  metrics: bounded(pointSchema, EXPORT_LIMITS.metrics),
  attributes: {
    ...bounded(exportedAttributeSchema, EXPORT_LIMITS.attributes),
    description: "Attributes and, as attributes, objects: the key is the path, the kind is the type.",
  },
  artifacts: bounded(artifactSchema, EXPORT_LIMITS.artifacts),
  table_object_rows: bounded(tableRowSchema, EXPORT_LIMITS.tableObjectRows),
  imports: bounded(jobSchema, EXPORT_LIMITS.imports),
  limits: objectSchema({
    runs: countSchema,
    selected_run_ids: countSchema,
    metrics: countSchema,
    metric_series: countSchema,
    attributes: countSchema,
    artifacts: countSchema,
    table_object_rows: countSchema,
    imports: countSchema,
    csv_bytes: countSchema,
  }),
  truncated: { ...booleanSchema, description: "Whether runs or rows are left out." },
});
