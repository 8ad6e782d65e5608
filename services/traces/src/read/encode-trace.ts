import type { MessageInitShape } from "@bufbuild/protobuf";
import { SPAN_KINDS } from "@tidemark/limits";
import type { SpanSchema, TraceSchema } from "@tidemark/proto/traces/v1/traces";
import type { SpanPayload, SpanRecord } from "@tidemark/codecs/spans";
import type { ExportedSpanSchema } from "@tidemark/proto/traces/v1/archive";
import type { TraceSummary } from "../fold/summary.rules.ts";
import type { RunLabel } from "../runs/runs.sql.ts";
import { spanIdText } from "../fold/span-ids.rules.ts";

/** A trace as lists and details show it. */
type LabeledTrace = {
  readonly traceId: string;
  readonly updatedUs: number;
  readonly label: RunLabel;
  readonly summary: TraceSummary;
};

/** Makes the message of a trace. */
export function encodeTrace({
  traceId,
  updatedUs,
  label,
  summary,
}: LabeledTrace): MessageInitShape<typeof TraceSchema> {
  return {
    traceId,
    runId: label.id,
    projectId: label.projectId,
    project: label.project,
    runName: label.name,
    rootSpanId: summary.rootSpanId,
    rootName: summary.rootName,
    status: summary.status,
    kinds: SPAN_KINDS.map((_, i) => i + 1).filter((kind) => (summary.kindBits & (1 << (kind - 1))) > 0),
    startedUs: summary.startedUs,
    endedUs: unlessNaN(summary.endedUs),
    spanCount: summary.spans,
    runningSpanCount: summary.running,
    errorCount: summary.errors,
    modelCallCount: summary.modelCalls,
    toolCallCount: summary.toolCalls,
    retrievalCount: summary.retrievals,
    rewardCount: summary.rewards,
    inputTokens: summary.inputTokens,
    outputTokens: summary.outputTokens,
    costUsd: unlessNaN(summary.costUsd),
    minStep: unlessNaN(summary.minStep),
    maxStep: unlessNaN(summary.maxStep),
    threadId: summary.threadId,
    rolloutId: summary.rolloutId,
    rewardKeys: summary.rewardMetrics.map(([key]) => key),
    rewardValues: summary.rewardMetrics.map(([, value]) => value),
    rootCount: summary.roots,
    orphanCount: summary.orphans,
    contentAvailable: summary.hasContent,
    truncated: summary.isTruncated,
    updatedUs,
  };
}

/** Returns undefined for NaN, which stands for an absent number. */
export function unlessNaN(value: number): number | undefined {
  return Number.isNaN(value) ? undefined : value;
}

/** Encodes a record as it is stored: a duration that no client sent is absent, and its children are not counted. */
export function encodeSpan(record: SpanRecord, payload: SpanPayload): MessageInitShape<typeof SpanSchema> {
  const hasParent = record.parentHigh !== 0 || record.parentLow !== 0;
  return {
    ...payload,
    spanId: spanIdText(record.idHigh, record.idLow),
    parentSpanId: hasParent ? spanIdText(record.parentHigh, record.parentLow) : "",
    name: record.name,
    kind: record.kind,
    status: record.status,
    startedUs: record.startUs,
    endedUs: unlessNaN(record.endUs),
    durationMs: unlessNaN(record.durationMs),
    step: unlessNaN(record.step),
    rank: unlessNaN(record.rank),
    threadId: record.threadId,
    rolloutId: record.rolloutId,
    previews: record.hasPreviews,
    redactionState: record.redaction,
    truncated: record.isTruncated,
  };
}

/** Encodes a record as it is stored, with the sequences of its parts. */
export function encodeExportedSpan(
  record: SpanRecord,
  payload: SpanPayload,
): MessageInitShape<typeof ExportedSpanSchema> {
  const { seq } = record;
  const hasParent = record.parentHigh !== 0 || record.parentLow !== 0;
  const other = (named: number, isThere: boolean): number | undefined => (isThere && named !== seq ? named : undefined);
  return {
    span: encodeSpan(record, payload),
    sequence: seq,
    parentSequence: other(record.parentSeq, hasParent),
    endedSequence: other(record.endSeq, !Number.isNaN(record.endUs)),
    durationSequence: other(record.durationSeq, !Number.isNaN(record.durationMs)),
    stepSequence: other(record.stepSeq, !Number.isNaN(record.step)),
    rankSequence: other(record.rankSeq, !Number.isNaN(record.rank)),
  };
}
