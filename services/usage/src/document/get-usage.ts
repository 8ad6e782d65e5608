import type { MessageInitShape } from "@bufbuild/protobuf";
import { AppError, badRequest } from "@tidemark/errors";
import { monthOf, planOf, planTiers, tierOf, type Plan, type Plans } from "@tidemark/limits";
import { type UsageNumbersSchema, Quota } from "@tidemark/proto/usage/v1/usage";
import { callerOf } from "@tidemark/requests";
import type { UsageDeps, UsageHandlers } from "../deps.ts";
import { forecastOf, warningsOf } from "./warnings.rules.ts";
import {
  readRequests,
  readAccountUse,
  readArtifactsUse,
  readImportsUse,
  readIngestUse,
  readRunsUse,
  readStoredContents,
  readTraceUse,
} from "./numbers.sql.ts";
import type { Tx } from "@tidemark/pg";
import { metadataBytes, storageBytes, storageByKind } from "./storage.rules.ts";

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

/** UsageService.GetQuotaUse. @throws unauthenticated; bad_request for an unknown quota */
export function getQuotaUse({ db }: Pick<UsageDeps, "db">): UsageHandlers["getQuotaUse"] {
  return async ({ quota }, call) => {
    const { orgId } = callerOf(call);
    const read = readers[quota];
    if (read === undefined) throw badRequest("unknown quota", "quota");
    return { used: BigInt(await db.readTenant(orgId, (tx) => read(tx, orgId))) };
  };
}

const readers: Partial<Record<Quota, (tx: Tx, orgId: string) => Promise<number>>> = {
  [Quota.METRIC_POINTS]: async (tx, orgId) => (await readIngestUse(tx, orgId)).monthPoints,
  [Quota.TRACE_EVENTS]: async (tx, orgId) => (await readTraceUse(tx, orgId)).monthEvents,
  [Quota.STORAGE]: async (tx, orgId) => (await readNumbers(tx, orgId)).storageBytes,
};

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

/** The numbers of an organization in all services, at one moment. */
type Numbers = Awaited<ReturnType<typeof readNumbers>>;

/** Reads the numbers of an organization in all services. The storage quota uses the same bytes. */
async function readNumbers(tx: Tx, orgId: string) {
  const runs = await readRunsUse(tx, orgId);
  const ingest = await readIngestUse(tx, orgId);
  const traces = await readTraceUse(tx, orgId);
  const artifacts = await readArtifactsUse(tx, orgId);
  const { stagedBytes } = await readImportsUse(tx, orgId);
  const account = await readAccountUse(tx, orgId);
  const contents = await readStoredContents(tx, orgId);
  const rows = {
    projects: runs.projects,
    runs: runs.runs,
    series: ingest.series,
    artifacts: artifacts.artifacts,
    keys: account.keys,
    seats: account.seats,
  };
  const byKind = storageByKind({ ...artifacts, rows, points: ingest.points, stagedBytes, contents });
  return {
    runs,
    ingest,
    traces,
    artifacts,
    account,
    stagedBytes,
    estimatedBytes: metadataBytes(rows),
    byKind,
    storageBytes: storageBytes(byKind),
  };
}
