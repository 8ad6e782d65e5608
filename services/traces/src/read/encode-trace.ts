import type { MessageInitShape } from "@bufbuild/protobuf";
import { SPAN_KINDS } from "@tidemark/limits";
import type { TraceSchema } from "@tidemark/proto/traces/v1/traces";
import type { TraceSummary } from "../fold/summary.rules.ts";
import type { RunLabel } from "../runs/labels.sql.ts";

/** A trace as lists and details show it. */
export type LabeledTrace = {
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
    endedUs: present(summary.endedUs),
    spanCount: summary.spans,
    runningSpanCount: summary.running,
    errorCount: summary.errors,
    modelCallCount: summary.modelCalls,
    toolCallCount: summary.toolCalls,
    retrievalCount: summary.retrievals,
    rewardCount: summary.rewards,
    inputTokens: summary.inputTokens,
    outputTokens: summary.outputTokens,
    costUsd: present(summary.costUsd),
    minStep: present(summary.minStep),
    maxStep: present(summary.maxStep),
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
export function present(value: number): number | undefined {
  return Number.isNaN(value) ? undefined : value;
}
