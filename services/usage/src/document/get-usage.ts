import type { MessageInitShape } from "@bufbuild/protobuf";
import { AppError } from "@tidemark/errors";
import { monthOf, planOf, planTiers, tierOf, type Plan, type Plans } from "@tidemark/limits";
import type { UsageNumbersSchema } from "@tidemark/proto/usage/v1/usage";
import { callerOf } from "@tidemark/requests";
import type { UsageDeps, UsageHandlers } from "../deps.ts";
import { forecastOf, warningsOf } from "./warnings.rules.ts";
import { readRequests } from "./numbers.sql.ts";
import { readNumbers, type Numbers } from "./read-numbers.ts";

/** UsageService.GetUsage. @throws unauthenticated; forbidden for keys of one project */
export function getUsage({ db, plans, enforced, now }: UsageDeps): UsageHandlers["getUsage"] {
  return async (_request, call) => {
    const { orgId, projectId, planTier } = callerOf(call);
    if (projectId !== undefined)
      throw new AppError("forbidden", "a project-scoped key cannot see what its organization uses");
    const at = now();
    const month = monthOf(at);
    const { numbers, requests } = await db.readTenant(orgId, async (tx) => ({
      numbers: await readNumbers(tx, orgId),
      requests: await readRequests(tx, orgId, month.firstDay),
    }));
    const plan = planOf(plans, planTier);
    const used = {
      projects: numbers.runs.projects,
      runs: numbers.runs.runs,
      metric_points: numbers.ingest.monthPoints,
      trace_events: numbers.traces.monthEvents,
      storage: numbers.storageBytes,
      api_requests: requests,
      seats: numbers.account.seats,
    };
    const monthTargets = ["api_requests", "metric_points", "trace_events"] as const;
    return {
      orgSlug: numbers.account.slug,
      planTier: tierOf(planTier),
      generatedAt: at.toISOString(),
      periodStartsAt: month.startsAt.toISOString(),
      periodEndsAt: month.endsAt.toISOString(),
      numbers: encodeNumbers(numbers, requests),
      warnings: warningsOf(used, plan, { enforced }).map((warning) => ({
        ...warning,
        value: BigInt(warning.value),
        limit: BigInt(warning.limit),
      })),
      forecasts: monthTargets
        .map((target) => forecastOf(target, { used: used[target], limit: plan[target] }, month, at))
        .map(({ target, projected, usedUpOn }) => ({ target, projected: BigInt(projected), usedUpOn: usedUpOn ?? "" })),
      enforced,
      plans: new TextEncoder().encode(JSON.stringify(plansOf(plans))),
    };
  };
}

/** Returns the plans as the usage document shows them. */
function plansOf(plans: Plans): Record<string, Plan & { readonly id: string }> {
  return Object.fromEntries(planTiers.map((id) => [id, { id, ...plans[id] }]));
}

function encodeNumbers(numbers: Numbers, requests: number): MessageInitShape<typeof UsageNumbersSchema> {
  const { account, runs, ingest, traces, artifacts, byKind } = numbers;
  return {
    seats: BigInt(account.seats),
    projects: BigInt(runs.projects),
    runs: BigInt(runs.runs),
    metricPoints: BigInt(ingest.monthPoints),
    traceEvents: BigInt(traces.monthEvents),
    apiRequests: BigInt(requests),
    metricPointsTotal: BigInt(ingest.points),
    metricSeries: BigInt(ingest.series),
    artifacts: BigInt(artifacts.artifacts + artifacts.versionsActive),
    rawArtifacts: BigInt(artifacts.artifacts),
    artifactCollections: BigInt(artifacts.collections),
    artifactVersionsActive: BigInt(artifacts.versionsActive),
    artifactVersionsPendingDelete: BigInt(artifacts.versionsPendingDelete),
    apiKeys: BigInt(account.keys),
    artifactBytes: BigInt(artifacts.artifactBytes),
    versionBytesActive: BigInt(artifacts.versionBytes),
    versionBytesPendingDelete: BigInt(artifacts.pendingDeleteBytes),
    versionBytesReserved: BigInt(artifacts.reservedBytes),
    artifactsOfUnknownSize: BigInt(artifacts.unknownSizes),
    estimatedMetadataBytes: BigInt(numbers.estimatedBytes),
    stagedImportBytes: BigInt(numbers.stagedBytes),
    storageBytes: BigInt(numbers.storageBytes),
    storageByKind: {
      artifacts: BigInt(byKind.artifacts),
      points: BigInt(byKind.points),
      logs: BigInt(byKind.logs),
      attributes: BigInt(byKind.attributes),
      objects: BigInt(byKind.objects),
      documents: BigInt(byKind.documents),
      traces: BigInt(byKind.traces),
      reports: BigInt(byKind.reports),
    },
  };
}
