import type { CompareRunsResponse, MetricAggregates, Run, RunControl, RunSummary } from "@tidemark/proto/runs/v1/runs";
import { eachRunField, runFieldsOf } from "@tidemark/run-state";
import { deletionJson, deletionProperties } from "../deletion/deletion.ts";
import { raw, type Json } from "../../http/json.ts";
import type { Schema } from "../../route.ts";
import {
  countSchema,
  listSchema,
  numberOrNullSchema,
  numberSchema,
  objectSchema,
  requireMessage,
  textOrNullSchema,
  timeOrNullSchema,
  timeSchema,
  uuidOrNullSchema,
  uuidSchema,
} from "../replies.ts";

/** Returns about the bytes that a page of runs holds in memory: documents are the only part that may be large. */
export function bytesOfPage({ runs }: { readonly runs: readonly RunSummary[] }): number {
  let bytes = 0;
  for (const { run } of runs) if (run !== undefined) bytes += documentBytes(run);
  return bytes;
}

/** Returns the same for a comparison, whose rows hold the documents again. */
export function bytesOfComparison({ runs, blocks }: Pick<CompareRunsResponse, "runs" | "blocks">): number {
  let bytes = 0;
  for (const run of runs) bytes += documentBytes(run);
  for (const { valuesJson } of blocks) for (const value of valuesJson) bytes += value.length;
  return bytes;
}

const documentBytes = ({ configJson, metadataJson }: Run): number => configJson.length + metadataJson.length;

type JsonObject = { readonly [key: string]: Json | undefined };

/** The statuses that a client can set. */
export const RUN_STATUSES = ["running", "finished", "failed"] as const;

const document: Schema = { type: "object", additionalProperties: true };

const tags: Schema = { type: "array", items: { type: "string", minLength: 1 } };

const status: Schema = { type: "string", enum: RUN_STATUSES };

const displayStatus: Schema = { type: "string", enum: ["running", "stopping", "stopped", "finished", "failed"] };

const runProperties = {
  id: uuidSchema,
  org_id: uuidSchema,
  project_id: uuidSchema,
  project: { type: "string" },
  name: { type: "string" },
  status,
  config: document,
  tags,
  metadata: document,
  notes: { ...textOrNullSchema, description: "The text of metadata.notes." },
  created_at: timeSchema,
  started_at: timeSchema,
  ...eachRunField({ time: timeOrNullSchema, uuid: uuidOrNullSchema, number: numberOrNullSchema }),
  resume_count: { type: "integer", minimum: 0 },
  last_seen_at: {
    ...timeSchema,
    description: "The last write or poll, exact to a minute; at least when the run was created or resumed.",
  },
  stale: {
    type: "boolean",
    description: "Running, but without a write or a poll for some time, ten minutes by default.",
  },
  ...deletionProperties,
  lifecycle: {
    type: "array",
    description: "The last 20 resumes, oldest first.",
    items: objectSchema({ status_from: status, status_to: status, at: timeSchema, kind: { type: "string" } }),
  },
} as const;

/** A run row. */
export const runSchema: Schema = objectSchema(runProperties, Object.keys(deletionProperties));

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
    ...runFieldsOf(run, null),
    resume_count: run.resumeCount,
    // An answer stored by a version without this field does not have it.
    last_seen_at: run.lastSeenAt === "" ? run.createdAt : run.lastSeenAt,
    stale: run.stale,
    ...(run.deletion === undefined ? {} : deletionJson(run.deletion)),
    lifecycle: run.lifecycle.map(({ statusFrom, statusTo, at, kind }) => ({
      status_from: statusFrom,
      status_to: statusTo,
      at,
      kind,
    })),
  };
}

/** The state of a run's stop request. */
export const runControlSchema: Schema = objectSchema(
  {
    stop_state: {
      type: "string",
      enum: ["none", "requested", "acknowledged", "completed", "terminal_without_completion"],
    },
    display_status: displayStatus,
    stop_request_id: uuidOrNullSchema,
    stop_requested: { type: "boolean" },
    actor: textOrNullSchema,
    stop_requested_at: timeOrNullSchema,
    stop_acknowledged_at: timeOrNullSchema,
    stop_completed_at: timeOrNullSchema,
    updated_at: timeOrNullSchema,
    reason: textOrNullSchema,
    completion_message: textOrNullSchema,
  },
  ["reason", "completion_message"],
);

/** Writes the state of a run's stop request, with its free texts where the service sent them. */
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

/** The aggregate of a metric. */
export const aggregateSchema: Schema = objectSchema(
  {
    latest: numberOrNullSchema,
    min: numberOrNullSchema,
    max: numberOrNullSchema,
    mean: numberOrNullSchema,
    variance: { ...numberOrNullSchema, description: "Population variance." },
    count: { type: "integer", minimum: 0, description: "Finite values. Without any, the other figures are null." },
    best: { ...numberOrNullSchema, description: "The maximum, or the minimum where less is better." },
    best_step: { ...numberOrNullSchema, description: "The earliest step of the best value." },
    non_finite: { type: "integer", minimum: 1, description: "Values that are NaN or infinite; left out without any." },
    non_finite_step: { ...numberSchema, description: "Their highest step." },
    latest_step: {
      ...numberOrNullSchema,
      description: "The step of `latest`, to be compared with `non_finite_step`; left out without `non_finite`.",
    },
  },
  ["non_finite", "non_finite_step", "latest_step"],
);

const summaryProperties = {
  ...runProperties,
  run_control: runControlSchema,
  latest_metrics: { type: "object", additionalProperties: numberOrNullSchema },
  metric_aggregates: { type: "object", additionalProperties: aggregateSchema },
  metric_keys: { type: "array", items: { type: "string" } },
  metric_keys_truncated: { type: "boolean", description: "Whether the run has more keys than are shown." },
  metric_keys_total: countSchema,
  artifact_counts: objectSchema({ checkpoint: countSchema, rollout: countSchema, file: countSchema }),
} as const;

/** A run with its control state and metrics. */
export const runSummarySchema: Schema = objectSchema(summaryProperties, Object.keys(deletionProperties));

/** The same in a table, with the requested columns. */
export const tableRowSchema: Schema = objectSchema(
  {
    ...summaryProperties,
    columns: {
      type: "object",
      additionalProperties: true,
      description:
        "By name, when columns are asked for; null where a run has none, and for values of more than 64 KiB.",
    },
    non_finite_columns: {
      ...listSchema({ type: "string" }),
      description:
        "Columns of the latest value of a metric of which a newer one is NaN or infinite, and columns of metrics without finite values; left out without any.",
    },
  },
  [...Object.keys(deletionProperties), "columns", "non_finite_columns"],
);

/** The same for the read of one run, whose metric keys are paged. */
export const runDetailSchema: Schema = objectSchema(
  {
    ...summaryProperties,
    metric_next_cursor: { ...textOrNullSchema, description: "Send as metric_cursor for the next keys." },
  },
  Object.keys(deletionProperties),
);

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
 * Writes the lists of a run's metrics as JSON without their brackets, each number once: a
 * page holds up to 250,000 metrics, most of the time is spent on the digits of doubles, and a key may have
 * the name of a property that every object has.
 */
function metricTexts(metrics: MetricAggregates): { keys: string; latest: string; aggregates: string } {
  let keys = "";
  let latest = "";
  let aggregates = "";
  const shown = aggregateTexts(metrics);
  metrics.keys.forEach((name, i) => {
    const key = JSON.stringify(name);
    const comma = i === 0 ? "" : ",";
    keys += `${comma}${key}`;
    latest += `${comma}${key}:${shown.latest[i]}`;
    aggregates += `${comma}${key}:${shown.aggregates[i]}`;
  });
  return { keys, latest, aggregates };
}

/** Writes the latest value and the aggregate of each key of a run as JSON, in the order of the keys. */
export function aggregateTexts(metrics: MetricAggregates): {
  latest: readonly string[];
  aggregates: readonly string[];
} {
  const latest = numberTexts(metrics.latest);
  const min = numberTexts(metrics.min);
  const max = numberTexts(metrics.max);
  const mean = numberTexts(metrics.mean);
  const variance = numberTexts(metrics.variance);
  const count = numberTexts(metrics.count);
  const bestStep = numberTexts(metrics.bestStep);
  const aggregates = metrics.keys.map((_key, i) => {
    const best = metrics.best[i] === metrics.max[i] ? max[i] : metrics.best[i] === metrics.min[i] ? min[i] : undefined;
    return (
      `{"latest":${latest[i]},"min":${min[i]},"max":${max[i]},"mean":${mean[i]},` +
      `"variance":${variance[i]},"count":${count[i]},` +
      `"best":${best ?? JSON.stringify(metrics.best[i] ?? null)},"best_step":${bestStep[i]}${nonFiniteText(metrics, i)}}`
    );
  });
  return { latest, aggregates };
}

/** Writes the members of a key that has values which are not finite. */
function nonFiniteText({ nonFinite, nonFiniteStep, latestStep }: MetricAggregates, i: number): string {
  const found = nonFinite[i] ?? 0;
  if (found === 0) return "";
  return `,"non_finite":${found},"non_finite_step":${nonFiniteStep[i]},"latest_step":${JSON.stringify(latestStep[i])}`;
}

/**
 * Returns the numbers of a column as JSON, null for those that are not finite. The engine prints a list of
 * doubles in half the time of single ones.
 */
function numberTexts(column: readonly number[]): string[] {
  return JSON.stringify(column).slice(1, -1).split(",");
}

const utf8 = new TextDecoder();
