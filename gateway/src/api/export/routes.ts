import { ATTRIBUTE_TYPES, EXPORT_LIMITS, OBJECT_KINDS } from "@tidemark/limits";
import type { Route, Schema } from "../../route.ts";
import { KEPT_MINUTES } from "../../spool/spool.ts";
import { artifactSchema } from "../artifacts/rows.ts";
import { attributeSchema } from "../attributes/attributes.ts";
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
  valueSchema,
} from "../replies.ts";
import { readCallers } from "../callers.ts";
import { ARCHIVE_TYPE, handleExport, PARQUET_TYPE } from "./begin-export.ts";
import { exportQuery } from "./export-query.ts";

const seriesSchema = objectSchema(
  {
    run_id: uuidSchema,
    key: textSchema,
    count: countSchema,
    min: numberOrNullSchema,
    max: numberOrNullSchema,
    mean: numberOrNullSchema,
    variance: numberOrNullSchema,
    latest: numberOrNullSchema,
    latest_step: numberOrNullSchema,
    best: numberOrNullSchema,
    best_step: numberOrNullSchema,
    non_finite: countSchema,
    non_finite_step: numberSchema,
  },
  ["non_finite", "non_finite_step"],
);

const pointSchema = objectSchema(
  {
    org_id: uuidSchema,
    run_id: uuidSchema,
    key: textSchema,
    step: numberSchema,
    value: valueSchema,
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
const exportSchema: Schema = objectSchema({
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

/** Exports of runs. */
export const exportRoutes: readonly Route[] = [
  {
    method: "GET",
    path: "/api/export",
    tag: "export",
    summary: "Export runs with all that belongs to them",
    description:
      "As a file. The number of rows of each kind is bounded; where rows are left out, `truncated` and two headers say so. As CSV one flat table, " +
      "with the whole row as JSON in the last column; more than 25 MiB of it are refused. As NDJSON a project or the named runs completely, without bounds " +
      "or other filters: a line for each row, and columns of points and console lines; a file without a last line of the type `end` is not complete. As Parquet the points of the same runs, a row for each: " +
      "run_id, run_name, key, step, value, timestamp, created_at. " +
      `What broke off goes on: for ${KEPT_MINUTES} minutes after the last request that had an export, a request by the same credential at the same address with \`Range\` and \`If-Range\` ` +
      "gets the rest of the same bytes. That holds for bytes that are not compressed, which have an ETag; exports with `Content-Encoding: gzip` have none.",
    callers: readCallers,
    rate: "general",
    idempotency: "none",
    // It is kept, and written to its end.
    endsWithClient: false,
    requestHeaders: {
      Range:
        "`bytes=<first>-<last>`, `bytes=<first>-` or `bytes=-<count>` of an export that is kept: the one that `If-Range` names, or the latest that the caller asked for at this address.",
      "If-Range":
        "The ETag of an export. Where it is not kept any longer, the answer is a new export as a whole, with status 200.",
    },
    schemas: { query: exportQuery, response: exportSchema, otherTypes: ["text/csv", ARCHIVE_TYPE, PARQUET_TYPE] },
    statuses: [200, 206, 400, 401, 403, 404, 416],
    handle: handleExport,
  },
];
