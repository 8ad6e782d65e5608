import { storageKinds, type Plan } from "@tidemark/limits";
import type { Schema } from "../../route.ts";
import {
  booleanSchema,
  countSchema,
  listSchema,
  numberSchema,
  objectSchema,
  textSchema,
  timeSchema,
  uuidSchema,
} from "../replies.ts";

const described = (schema: Schema, description: string): Schema => ({ ...schema, description });

const planSchema = objectSchema({
  id: textSchema,
  label: textSchema,
  monthly_base_usd: numberSchema,
  included_seats: countSchema,
  included_storage_bytes: countSchema,
  projects: countSchema,
  runs: countSchema,
  metric_points: countSchema,
  trace_events: countSchema,
  api_requests: countSchema,
  api_request_overage_cents_per_million: {
    type: ["number", "null"],
    description: "Null: requests above the allowance of the month are refused.",
  },
  rate_limit_rps: numberSchema,
  rate_limit_burst: numberSchema,
  ingest_rate_limit_rps: numberSchema,
  warehouse_kind: textSchema,
  min_replica_memory_gb: numberSchema,
  max_replica_memory_gb: numberSchema,
  num_replicas: countSchema,
} satisfies Record<keyof Plan | "id", Schema>);

const periodSchema = objectSchema({
  kind: { const: "calendar_month" },
  timezone: { const: "UTC" },
  starts_at: timeSchema,
  ends_at: timeSchema,
  reset_at: timeSchema,
});

const limits = [
  "included_seats",
  "included_storage_bytes",
  "projects",
  "runs",
  "metric_points",
  "trace_events",
  "api_requests",
] as const;

const counts = [
  "seats",
  "paid_extra_seats",
  "projects",
  "runs",
  "metric_points",
  "metric_points_current_period",
  "trace_events",
  "trace_events_current_period",
  "api_requests",
  "metric_points_retained_total",
  "metric_series",
  "artifacts",
  "raw_artifacts",
  "artifact_collections",
  "artifact_versions_active",
  "artifact_versions_pending_delete",
  "api_keys",
  "artifact_bytes_exact",
  "versioned_artifact_bytes_active",
  "versioned_artifact_bytes_pending_delete",
  "versioned_artifact_bytes_reserved",
  "artifact_bytes_unknown",
  "artifact_bytes_unknown_count",
  "staged_import_bytes",
  "estimated_metadata_bytes",
  "storage_bytes_for_warnings",
  "storage_bytes_for_write_gate",
  "estimated_storage_bytes_for_warnings",
] as const;

const countsSchema = (names: readonly string[]) => Object.fromEntries(names.map((name) => [name, countSchema]));

const warningSchema = objectSchema({
  target: { enum: ["projects", "runs", "metric_points", "trace_events", "storage", "api_requests", "seats"] },
  status: { enum: ["approaching_limit", "over_limit", "paid_extra_seats"] },
  value: countSchema,
  limit: countSchema,
  ratio: numberSchema,
  policy: textSchema,
  blocking: described(booleanSchema, "New things of this kind are refused."),
  code: textSchema,
  message: textSchema,
});

const forecastSchema = objectSchema({
  projected: described(countSchema, "What the month ends with at the pace of its past days."),
  used_up_on: {
    type: ["string", "null"],
    format: "date",
    description: "The day in UTC on which the quota is used up at that pace; null: not in this month.",
  },
});

/** The usage document. */
export const usageSchema = objectSchema({
  schema_version: { const: 1 },
  generated_at: timeSchema,
  source: textSchema,
  billing_precision: textSchema,
  limits_enforced: described(
    booleanSchema,
    "False: this installation refuses nothing for its rates, quotas and seats.",
  ),
  usage_period: periodSchema,
  plans: objectSchema({ free: planSchema, pro: planSchema, premium: planSchema }),
  overage_policy: { type: "object", additionalProperties: textSchema },
  organizations: listSchema(
    objectSchema({
      org_id: uuidSchema,
      org_slug: textSchema,
      plan_tier: { enum: ["free", "pro", "premium"] },
      plan: planSchema,
      usage_period: periodSchema,
      limits: objectSchema(countsSchema(limits)),
      usage: objectSchema({
        ...countsSchema(counts),
        storage_bytes_by_kind: described(
          objectSchema(countsSchema(storageKinds)),
          "Logical bytes of what is stored. Their sum is storage_bytes_for_write_gate, which the plan bounds by included_storage_bytes. Metric points count 16 bytes a value and 256 a series; logs the UTF-8 bytes of messages and 16 a line; attributes, objects with the rows of tables, and reports with workspace views the UTF-8 bytes of their texts and JSON; documents those of configs, metadata, tags, names and readmes, with 1,024 bytes a run, 512 a project and a key, 256 a seat, and staged imports; traces their spans before compression; artifacts their bytes and 512 each. What is deleted counts until it is purged.",
        ),
        warehouse_storage_bytes_exact: { type: "null" },
        billable_storage_bytes: { type: "null" },
      }),
      warnings: listSchema(warningSchema),
      forecast: objectSchema({
        api_requests: forecastSchema,
        metric_points: forecastSchema,
        trace_events: forecastSchema,
      }),
    }),
  ),
});
