import type {
  CreateRunResponse,
  GetOverviewResponse,
  GetRunResponse,
  ListRunsResponse,
  MetricAggregates,
  Run,
  RunControl,
  RunSummary,
  SummarizeRunsResponse,
  UpdateRunResponse,
} from "@tidemark/proto/runs/v1/runs";
import type { RouteInput, RouteReply } from "../route.ts";
import { raw, type Json } from "./json.ts";
import { requireMessage } from "./runs-message.ts";

type JsonObject = { readonly [key: string]: Json | undefined };

const utf8 = new TextDecoder();

/** `{run, created}` with the run row. */
export function encodeCreateRun({ run, created }: CreateRunResponse): RouteReply {
  return { body: { run: runJson(requireMessage(run)), created } };
}

/** `{run}` with the run row. */
export function encodeUpdateRun({ run }: UpdateRunResponse): RouteReply {
  return { body: { run: runJson(requireMessage(run)) } };
}

/** `{runs}` with summaries. */
export function encodeListRuns({ runs }: ListRunsResponse): RouteReply {
  return { body: { runs: runs.map(summaryJson) } };
}

/** `{runs, metric_keys, total, next_cursor, page_info}`; rows for choosing runs say so and have no keys. */
export function encodeSummarizeRuns(
  { runs, metricKeys, total, nextCursor }: SummarizeRunsResponse,
  { query }: RouteInput,
): RouteReply {
  const selection = query["projection"] === "selection";
  return {
    body: {
      ...(selection ? { projection: "selection" } : {}),
      runs: runs.map(summaryJson),
      metric_keys: metricKeys,
      total: Number(total),
      next_cursor: nextCursor === "" ? null : nextCursor,
      page_info: { pagination: "cursor", has_next_page: nextCursor !== "" },
    },
  };
}

/** `{overview}`. */
export function encodeOverview(overview: GetOverviewResponse): RouteReply {
  return {
    body: {
      overview: {
        total_runs: Number(overview.totalRuns),
        active_runs: Number(overview.activeRuns),
        failed_runs: Number(overview.failedRuns),
        stopping_runs: Number(overview.stoppingRuns),
        stopped_runs: Number(overview.stoppedRuns),
        best_eval_return: overview.bestValue ?? null,
        metric_points: Number(overview.metricPoints),
      },
    },
  };
}

/** `{run}` with the summary, and how to go on in its metric keys. */
export function encodeGetRun({ run }: GetRunResponse): RouteReply {
  const summary = requireMessage(run);
  const cursor = requireMessage(summary.metrics).nextCursor;
  return { body: { run: { ...summaryJson(summary), metric_next_cursor: cursor === "" ? null : cursor } } };
}

/** A run row. */
export function runJson(run: Run): JsonObject {
  return {
    id: run.id,
    org_id: run.orgId,
    project_id: run.projectId,
    project: run.project,
    name: run.name,
    status: run.status,
    config: raw(utf8.decode(run.configJson)),
    tags: run.tags,
    metadata: raw(utf8.decode(run.metadataJson)),
    notes: run.notes ?? null,
    created_at: run.createdAt,
    started_at: run.startedAt,
    finished_at: run.finishedAt ?? null,
    parent_run_id: run.parentRunId ?? null,
    forked_from_step: run.forkedFromStep ?? null,
    forked_from_artifact_id: run.forkedFromArtifactId ?? null,
    resume_count: run.resumeCount,
    resumed_at: run.resumedAt ?? null,
    lifecycle: run.lifecycle.map(({ statusFrom, statusTo, at, kind }) => ({
      status_from: statusFrom,
      status_to: statusTo,
      at,
      kind,
    })),
  };
}

/** Where a run's stop request stands; its free texts where the service sent them. */
export function controlJson(control: RunControl): JsonObject {
  return {
    stop_state: control.stopState,
    display_status: control.displayStatus,
    stop_request_id: control.stopRequestId ?? null,
    stop_requested: control.stopRequested,
    actor: control.actor ?? null,
    stop_requested_at: control.stopRequestedAt ?? null,
    stop_acknowledged_at: control.stopAcknowledgedAt ?? null,
    stop_completed_at: control.stopCompletedAt ?? null,
    updated_at: control.updatedAt ?? null,
    ...(control.details === undefined
      ? {}
      : {
          reason: control.details.reason ?? null,
          completion_message: control.details.completionMessage ?? null,
        }),
  };
}

/** A run with its summary. */
export function summaryJson(summary: RunSummary): JsonObject {
  const metrics = requireMessage(summary.metrics);
  const counts = summary.artifactCounts;
  const { keys, latest, aggregates } = metricTexts(metrics);
  return {
    ...runJson(requireMessage(summary.run)),
    run_control: controlJson(requireMessage(summary.runControl)),
    latest_metrics: raw(`{${latest}}`),
    metric_aggregates: raw(`{${aggregates}}`),
    metric_keys: raw(`[${keys}]`),
    metric_keys_truncated: Number(metrics.keysTotal) > metrics.keys.length,
    metric_keys_total: Number(metrics.keysTotal),
    artifact_counts: {
      checkpoint: Number(counts?.checkpoint ?? 0),
      rollout: Number(counts?.rollout ?? 0),
      file: Number(counts?.file ?? 0),
    },
  };
}

/**
 * The lists of a run's metrics as JSON, without their brackets. Written as text, each number once: a
 * page holds up to 250,000 metrics, most of the time goes into the digits of doubles, and a key may be
 * named like a property that every object has.
 */
function metricTexts(metrics: MetricAggregates): { keys: string; latest: string; aggregates: string } {
  let keys = "";
  let latest = "";
  let aggregates = "";
  const last = numberTexts(metrics.latest);
  const min = numberTexts(metrics.min);
  const max = numberTexts(metrics.max);
  const mean = numberTexts(metrics.mean);
  const variance = numberTexts(metrics.variance);
  const count = numberTexts(metrics.count);
  const bestStep = numberTexts(metrics.bestStep);
  metrics.keys.forEach((name, i) => {
    const key = JSON.stringify(name);
    const comma = i === 0 ? "" : ",";
    const best = metrics.best[i] === metrics.max[i] ? max[i] : metrics.best[i] === metrics.min[i] ? min[i] : undefined;
    keys += `${comma}${key}`;
    latest += `${comma}${key}:${last[i]}`;
    aggregates +=
      `${comma}${key}:{"latest":${last[i]},"min":${min[i]},"max":${max[i]},"mean":${mean[i]},` +
      `"variance":${variance[i]},"count":${count[i]},` +
      `"best":${best ?? JSON.stringify(metrics.best[i] ?? null)},"best_step":${bestStep[i]}}`;
  });
  return { keys, latest, aggregates };
}

/**
 * The numbers of a column as JSON; one that JSON has no word for becomes null. All at once, because the engine prints a list of doubles
 * in half of the time that it takes for one after the other.
 */
function numberTexts(column: readonly number[]): string[] {
  return JSON.stringify(column).slice(1, -1).split(",");
}
