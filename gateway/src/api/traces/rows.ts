import { REDACTION_STATES, SPAN_KINDS, SPAN_STATUSES } from "@tidemark/limits";
import type { Span, Trace } from "@tidemark/proto/traces/v1/traces";
import { raw, type Json } from "../../http/json.ts";
import type { Schema } from "../../route.ts";
import {
  booleanSchema,
  countSchema,
  listSchema,
  numberOrNullSchema,
  numberSchema,
  objectSchema,
  textOrNull,
  textOrNullSchema,
  textSchema,
  timeOrNullSchema,
  timeSchema,
  uuidSchema,
} from "../replies.ts";

const traceIdSchema: Schema = { type: "string", pattern: "^[0-9a-f]{32}$" };
const spanIdSchema: Schema = { type: "string", pattern: "^[0-9a-f]{16}$" };
const statusSchema: Schema = { type: "string", enum: SPAN_STATUSES };
const kindSchema: Schema = { type: "string", enum: SPAN_KINDS };
const rewardsSchema: Schema = { type: "object", additionalProperties: numberSchema };

const identity = {
  trace_id: traceIdSchema,
  run_id: uuidSchema,
  project_id: uuidSchema,
  project: textSchema,
  run_name: textSchema,
  root_span_id: spanIdSchema,
  root_name: textSchema,
  status: statusSchema,
  started_at: timeSchema,
  ended_at: timeOrNullSchema,
  duration_ms: numberOrNullSchema,
  span_count: countSchema,
  running_span_count: countSchema,
  error_count: countSchema,
} satisfies Record<string, Schema>;

/** A trace in a list. */
export const listedTraceSchema = objectSchema({
  ...identity,
  kinds: listSchema(kindSchema),
  model_call_count: countSchema,
  tool_call_count: countSchema,
  retrieval_count: countSchema,
  reward_count: countSchema,
  input_tokens: numberSchema,
  output_tokens: numberSchema,
  cost_usd: numberOrNullSchema,
  min_step: numberOrNullSchema,
  max_step: numberOrNullSchema,
  thread_id: textOrNullSchema,
  rollout_id: textOrNullSchema,
  summary_metrics: {
    ...rewardsSchema,
    description: "Metrics whose keys begin with `reward.`, of the span that started last.",
  },
  attributes: objectSchema({ root_count: countSchema, orphan_span_count: countSchema }),
  content_available: booleanSchema,
  truncated: booleanSchema,
  updated_at: timeSchema,
});

/** A trace by itself. */
export const traceSchema = objectSchema({
  ...identity,
  content_available: booleanSchema,
  payloads_truncated: booleanSchema,
  summary_metrics: rewardsSchema,
  attributes: objectSchema({
    root_count: countSchema,
    orphan_span_count: countSchema,
    returned_span_count: countSchema,
  }),
  summary: objectSchema({ run_name: textSchema, project: textSchema, returned_span_count: countSchema }),
  total_span_count: countSchema,
  root_count: countSchema,
  orphan_count: {
    ...countSchema,
    description: "Spans whose parent is not among the spans, and one for each cycle of parents.",
  },
});

/** A span. */
export const spanSchema = objectSchema({
  trace_id: traceIdSchema,
  span_id: spanIdSchema,
  parent_span_id: { type: ["string", "null"], pattern: "^[0-9a-f]{16}$" },
  name: textSchema,
  kind: kindSchema,
  status: statusSchema,
  started_at: timeSchema,
  ended_at: timeOrNullSchema,
  duration_ms: numberOrNullSchema,
  step: numberOrNullSchema,
  rank: { type: ["integer", "null"], minimum: 0 },
  thread_id: textOrNullSchema,
  rollout_id: textOrNullSchema,
  attributes: { type: "object" },
  metrics: { type: "object" },
  links: { type: ["object", "array"] },
  input_preview: textSchema,
  output_preview: textSchema,
  error_type: textOrNullSchema,
  error_preview: textSchema,
  content_policy: { type: "string", enum: ["off", "preview"] },
  redaction_state: { type: "string", enum: REDACTION_STATES },
  truncated: booleanSchema,
  child_count: countSchema,
  returned_child_count: countSchema,
  omitted_child_count: countSchema,
});

function identityJson(trace: Trace): Record<string, Json> {
  const { startedUs, endedUs } = trace;
  return {
    trace_id: trace.traceId,
    run_id: trace.runId,
    project_id: trace.projectId,
    project: trace.project,
    run_name: trace.runName,
    root_span_id: trace.rootSpanId,
    root_name: trace.rootName,
    status: wordOf(SPAN_STATUSES, trace.status),
    started_at: instantJson(startedUs),
    ended_at: endedUs === undefined ? null : instantJson(endedUs),
    // Clocks that disagree must not produce a negative duration.
    duration_ms: endedUs === undefined ? null : Math.max(0, endedUs - startedUs) / 1000,
    span_count: trace.spanCount,
    running_span_count: trace.runningSpanCount,
    error_count: trace.errorCount,
  };
}

function rewardsJson({ rewardKeys, rewardValues }: Trace): Json {
  return Object.fromEntries(rewardKeys.map((key, i) => [key, rewardValues[i]!]));
}

/** Writes a trace of a list. */
export function listedTraceJson(trace: Trace): Json {
  return {
    ...identityJson(trace),
    kinds: trace.kinds.map((kind) => wordOf(SPAN_KINDS, kind)).toSorted(),
    model_call_count: trace.modelCallCount,
    tool_call_count: trace.toolCallCount,
    retrieval_count: trace.retrievalCount,
    reward_count: trace.rewardCount,
    input_tokens: trace.inputTokens,
    output_tokens: trace.outputTokens,
    cost_usd: trace.costUsd ?? null,
    min_step: trace.minStep ?? null,
    max_step: trace.maxStep ?? null,
    thread_id: textOrNull(trace.threadId),
    rollout_id: textOrNull(trace.rolloutId),
    summary_metrics: rewardsJson(trace),
    attributes: { root_count: trace.rootCount, orphan_span_count: trace.orphanCount },
    content_available: trace.contentAvailable,
    truncated: trace.truncated,
    updated_at: instantJson(trace.updatedUs),
  };
}

/** Writes a trace by itself. */
export function traceJson(trace: Trace, returned: number): Json {
  return {
    ...identityJson(trace),
    content_available: trace.contentAvailable,
    payloads_truncated: false,
    summary_metrics: rewardsJson(trace),
    attributes: {
      root_count: trace.rootCount,
      orphan_span_count: trace.orphanCount,
      returned_span_count: returned,
    },
    summary: { run_name: trace.runName, project: trace.project, returned_span_count: returned },
    total_span_count: trace.spanCount,
    root_count: trace.rootCount,
    orphan_count: trace.orphanCount,
  };
}

/** Writes a span of a trace; its documents have the digits that were sent. */
export function spanJson(span: Span, traceId: string): Json {
  return {
    trace_id: traceId,
    span_id: span.spanId,
    parent_span_id: textOrNull(span.parentSpanId),
    name: span.name,
    kind: wordOf(SPAN_KINDS, span.kind),
    status: wordOf(SPAN_STATUSES, span.status),
    started_at: instantJson(span.startedUs),
    ended_at: span.endedUs === undefined ? null : instantJson(span.endedUs),
    duration_ms: span.durationMs ?? null,
    step: span.step ?? null,
    rank: span.rank ?? null,
    thread_id: textOrNull(span.threadId),
    rollout_id: textOrNull(span.rolloutId),
    attributes: documentJson(span.attributesJson, "{}"),
    metrics: documentJson(span.metricsJson, "{}"),
    links: documentJson(span.linksJson, "[]"),
    input_preview: span.inputPreview,
    output_preview: span.outputPreview,
    error_type: textOrNull(span.errorType),
    error_preview: span.errorPreview,
    content_policy: span.previews ? "preview" : "off",
    redaction_state: wordOf(REDACTION_STATES, span.redactionState),
    truncated: span.truncated,
    child_count: span.childCount,
    returned_child_count: 0,
    omitted_child_count: span.childCount,
  };
}

const utf8 = new TextDecoder();

function documentJson(bytes: Uint8Array, otherwise: string): Json {
  return raw(bytes.length === 0 ? otherwise : utf8.decode(bytes));
}

const SECOND_US = 1_000_000;

/** Returns microseconds since the Unix epoch as RFC 3339 in UTC, with as many decimals as it takes. */
function instantJson(us: number): string {
  const seconds = Math.floor(us / SECOND_US);
  const whole = new Date(seconds * 1000).toISOString().slice(0, "2026-01-02T03:04:05".length);
  const micros = us - seconds * SECOND_US;
  return micros === 0 ? `${whole}Z` : `${whole}.${String(micros).padStart(6, "0").replace(/0+$/, "")}Z`;
}

/** Returns the word of a number that counts from 1; empty for a number without one. */
function wordOf(words: readonly string[], number: number): string {
  return words[number - 1] ?? "";
}
