import type {
  CreateRunResponse,
  GetRunResponse,
  ListRunsResponse,
  MetricAggregates,
  Run,
  RunControl,
  RunSummary,
  UpdateRunResponse,
} from "@tidemark/proto/runs/v1/runs";
import type { RouteReply } from "../route.ts";
import { raw, type Json, type RawJson } from "./json.ts";
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

/** `{run}` with the summary, and how to go on in its metric keys. */
export function encodeGetRun({ run }: GetRunResponse): RouteReply {
  const summary = requireMessage(run);
  const cursor = requireMessage(summary.metrics).nextCursor;
  return { body: { run: { ...summaryJson(summary), metric_next_cursor: cursor === "" ? null : cursor } } };
}

function runJson(run: Run): JsonObject {
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

function controlJson(control: RunControl): JsonObject {
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

function summaryJson(summary: RunSummary): JsonObject {
  const metrics = requireMessage(summary.metrics);
  const counts = summary.artifactCounts;
  return {
    ...runJson(requireMessage(summary.run)),
    run_control: controlJson(requireMessage(summary.runControl)),
    latest_metrics: byKey(metrics, (i) => numberText(metrics.latest[i])),
    metric_aggregates: byKey(metrics, (i) => aggregateText(metrics, i)),
    metric_keys: metrics.keys,
    metric_keys_truncated: Number(metrics.keysTotal) > metrics.keys.length,
    metric_keys_total: Number(metrics.keysTotal),
    artifact_counts: {
      checkpoint: Number(counts?.checkpoint ?? 0),
      rollout: Number(counts?.rollout ?? 0),
      file: Number(counts?.file ?? 0),
    },
  };
}

// Written as text: a page holds up to 250,000 of these, and a key may be named like a property that
// every object has.
function byKey({ keys }: MetricAggregates, value: (i: number) => string): RawJson {
  return raw(`{${keys.map((key, i) => `${JSON.stringify(key)}:${value(i)}`).join(",")}}`);
}

function aggregateText(metrics: MetricAggregates, i: number): string {
  const parts = [
    `"latest":${numberText(metrics.latest[i])}`,
    `"min":${numberText(metrics.min[i])}`,
    `"max":${numberText(metrics.max[i])}`,
    `"mean":${numberText(metrics.mean[i])}`,
    `"variance":${numberText(metrics.variance[i])}`,
    `"count":${numberText(metrics.count[i])}`,
    `"best":${numberText(metrics.best[i])}`,
    `"best_step":${numberText(metrics.bestStep[i])}`,
  ];
  return `{${parts.join(",")}}`;
}

/** A number that JSON has no word for becomes null. */
function numberText(value: number | undefined): string {
  return JSON.stringify(value ?? null);
}
