import { storageKinds, type Plan } from "@tidemark/limits";
import type { GetUsageResponse, UsageForecast, UsageNumbers, UsageWarning } from "@tidemark/proto/usage/v1/usage";
import type { Json } from "../../http/json.ts";
import { route, type EncoderInput, type Route, type RouteReply } from "../../route.ts";
import { requireMessage, textOrNull } from "../replies.ts";
import { usageReaders } from "../callers.ts";
import { usageSchema } from "./usage-schema.ts";

/** What happens above the quotas of a plan. */
const overagePolicy = {
  paid_extra_seats: "tracked_not_billed",
  seats: "paid_extra_seats",
  projects: "blocked_at_limit",
  runs: "blocked_at_limit",
  metric_points: "blocked_at_limit",
  trace_events: "blocked_at_limit",
  api_requests: "blocked_or_metered_overage",
  storage: "blocked_at_limit",
  artifacts: "visibility_only",
  api_keys: "visibility_only",
} as const;

/** The usage document of the caller's organization (contract of GET /api/usage), with a forecast. */
export function encodeUsage(usage: GetUsageResponse, _request: unknown, { identity }: EncoderInput): RouteReply {
  const plans = JSON.parse(new TextDecoder().decode(usage.plans)) as Record<string, Plan & { id: string }>;
  const plan = requireMessage(plans[usage.planTier]);
  const period = {
    kind: "calendar_month",
    timezone: "UTC",
    starts_at: usage.periodStartsAt,
    ends_at: usage.periodEndsAt,
    reset_at: usage.periodEndsAt,
  };
  return {
    body: {
      schema_version: 1,
      generated_at: usage.generatedAt,
      source: "computed_current_state",
      billing_precision: "not_billable",
      limits_enforced: usage.enforced,
      usage_period: period,
      plans,
      overage_policy: overagePolicy,
      organizations: [
        {
          org_id: identity?.orgId ?? "",
          org_slug: usage.orgSlug,
          plan_tier: usage.planTier,
          plan,
          usage_period: period,
          limits: {
            included_seats: plan.included_seats,
            included_storage_bytes: plan.included_storage_bytes,
            projects: plan.projects,
            runs: plan.runs,
            metric_points: plan.metric_points,
            trace_events: plan.trace_events,
            api_requests: plan.api_requests,
          },
          usage: encodeNumbers(requireMessage(usage.numbers), plan),
          warnings: usage.warnings.map(encodeWarning),
          forecast: Object.fromEntries(usage.forecasts.map((forecast) => [forecast.target, encodeForecast(forecast)])),
        },
      ],
    },
  };
}

function encodeNumbers(numbers: UsageNumbers, plan: Plan): Json {
  const seats = Number(numbers.seats);
  const storageBytes = Number(numbers.storageBytes);
  const byKind = requireMessage(numbers.storageByKind);
  const unknownCount = Number(numbers.artifactsOfUnknownSize);
  return {
    seats,
    paid_extra_seats: Math.max(0, seats - plan.included_seats),
    projects: Number(numbers.projects),
    runs: Number(numbers.runs),
    metric_points: Number(numbers.metricPoints),
    metric_points_current_period: Number(numbers.metricPoints),
    trace_events: Number(numbers.traceEvents),
    trace_events_current_period: Number(numbers.traceEvents),
    api_requests: Number(numbers.apiRequests),
    metric_points_retained_total: Number(numbers.metricPointsTotal),
    metric_series: Number(numbers.metricSeries),
    artifacts: Number(numbers.artifacts),
    raw_artifacts: Number(numbers.rawArtifacts),
    artifact_collections: Number(numbers.artifactCollections),
    artifact_versions_active: Number(numbers.artifactVersionsActive),
    artifact_versions_pending_delete: Number(numbers.artifactVersionsPendingDelete),
    api_keys: Number(numbers.apiKeys),
    artifact_bytes_exact: Number(numbers.artifactBytes),
    versioned_artifact_bytes_active: Number(numbers.versionBytesActive),
    versioned_artifact_bytes_pending_delete: Number(numbers.versionBytesPendingDelete),
    versioned_artifact_bytes_reserved: Number(numbers.versionBytesReserved),
    // Artifacts that are kept elsewhere use no bytes here.
    artifact_bytes_unknown: 0,
    artifact_bytes_unknown_count: unknownCount,
    staged_import_bytes: Number(numbers.stagedImportBytes),
    estimated_metadata_bytes: Number(numbers.estimatedMetadataBytes),
    storage_bytes_by_kind: Object.fromEntries(storageKinds.map((kind) => [kind, Number(byKind[kind])])),
    warehouse_storage_bytes_exact: null,
    storage_bytes_for_warnings: storageBytes,
    storage_bytes_for_write_gate: storageBytes,
    estimated_storage_bytes_for_warnings: storageBytes,
    billable_storage_bytes: null,
  };
}

function encodeWarning({ target, status, value, limit, ratio, policy, blocking, message }: UsageWarning): Json {
  return {
    target,
    status,
    value: Number(value),
    limit: Number(limit),
    ratio,
    policy,
    blocking,
    code: `${target}_${status}`,
    message,
  };
}

function encodeForecast({ projected, usedUpOn }: UsageForecast): Json {
  return { projected: Number(projected), used_up_on: textOrNull(usedUpOn) };
}

const facts = {
  method: "GET",
  tag: "usage",
  callers: usageReaders,
  rate: "general",
  monthQuota: "never_refused",
  idempotency: "none",
  schemas: { response: usageSchema },
  statuses: [200, 401, 403],
  decode: () => ({}),
  encode: encodeUsage,
} as const;

/** What an organization uses of its plan. */
export const usageRoutes: readonly Route[] = [
  route({
    ...facts,
    path: "/api/usage",
    summary: "What the organization uses of its plan",
    description:
      "Metric points, trace events and requests are those of this calendar month in UTC; everything else is what there is, deleted rows included until they are purged. storage_bytes_by_kind splits the stored bytes by kind. A figure is at most five seconds old. The call counts as a request of the month, and is answered even when the month is used up.",
    rpc: (clients, request, call) => clients.usage.getUsage(request, call),
  }),
  route({
    ...facts,
    path: "/api/usage/export",
    summary: "The same document, for exports",
    rpc: (clients, request, call) => clients.usage.getUsage(request, call),
  }),
];
