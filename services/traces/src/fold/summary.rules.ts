import { createByteReader, createByteWriter } from "@tidemark/codecs/spans";
import { firstRewards } from "./rewards.rules.ts";
import { kindNumber, spanIdText, statusNumber } from "./span-ids.rules.ts";
import { isTruncated, kindBitsOf, statusOf, type TraceFold } from "./totals.rules.ts";

/** The fields of a trace that lists show and filter by. NaN stands for an absent number; times are microseconds since the Unix epoch. */
export type TraceSummary = {
  readonly status: number;
  /** Bit 0 for number 1 of `SpanKind`. */
  readonly kindBits: number;
  readonly startedUs: number;
  readonly minStep: number;
  readonly rootName: string;
  /** Empty: none. */
  readonly threadId: string;
  readonly rolloutId: string;
} & SummaryRest;

/** The fields that lists only show, stored as bytes. */
export type SummaryRest = {
  readonly rootSpanId: string;
  readonly endedUs: number;
  readonly spans: number;
  readonly running: number;
  readonly errors: number;
  readonly modelCalls: number;
  readonly toolCalls: number;
  readonly retrievals: number;
  readonly rewards: number;
  readonly roots: number;
  readonly orphans: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly costUsd: number;
  readonly maxStep: number;
  readonly hasContent: boolean;
  readonly isTruncated: boolean;
  /** By key, ascending; at most 16 KiB. */
  readonly rewardMetrics: readonly (readonly [key: string, value: number])[];
};

const NANO = 1e9;
const VERSION = 1;

/** Returns the summary of a trace with at least one span. */
export function summarize(trace: TraceFold): TraceSummary {
  const { table, totals } = trace;
  const { ids, columns, texts } = table;
  const root = totals.firstRoot === -1 ? totals.first : totals.firstRoot;
  const textOf = (column: Uint32Array, otherwise: number): string =>
    texts[column[root]! || (otherwise === -1 ? 0 : column[otherwise]!)]!;
  return {
    status: statusOf(totals),
    kindBits: kindBitsOf(totals),
    startedUs: columns.start[totals.first]!,
    minStep: totals.minStep,
    rootName: texts[columns.name[root]!]!,
    threadId: textOf(columns.thread, totals.firstWithThread),
    rolloutId: textOf(columns.rollout, totals.firstWithRollout),
    rootSpanId: spanIdText(ids.high(root), ids.low(root)),
    endedUs: totals.lastEnd,
    spans: totals.spans,
    running: totals.byStatus[statusNumber("running")]!,
    errors: totals.byStatus[statusNumber("error")]!,
    modelCalls: totals.byKind[kindNumber("model")]!,
    toolCalls: totals.byKind[kindNumber("tool")]!,
    retrievals: totals.byKind[kindNumber("retrieval")]!,
    rewards: totals.byKind[kindNumber("reward")]!,
    roots: totals.roots,
    orphans: totals.orphans + totals.cycles,
    inputTokens: totals.inputTokens,
    outputTokens: totals.outputTokens,
    costUsd: totals.withCost === 0 ? Number.NaN : Number(totals.costNanos) / NANO,
    maxStep: totals.maxStep,
    hasContent: totals.withContent > 0,
    isTruncated: isTruncated(totals),
    rewardMetrics: rewardMetricsOf(trace),
  };
}

/** Returns the metrics of rewards, each of the span that started last of those that have it; those that sort first as far as 16 KiB go. */
function rewardMetricsOf({ table, totals }: TraceFold): [string, number][] {
  if (totals.rewardSpans.size === 0) return [];
  return firstRewards([...totals.rewardSpans]).map(([key, span]) => [
    key,
    table.rewards.get(span)!.find(([name]) => name === key)![1],
  ]);
}

/** Writes the fields that lists only show. */
export function writeSummaryRest(summary: TraceSummary): Uint8Array {
  const out = createByteWriter(96);
  out.byte(VERSION);
  out.uint32(Number.parseInt(summary.rootSpanId.slice(0, 8), 16));
  out.uint32(Number.parseInt(summary.rootSpanId.slice(8), 16));
  out.number(summary.endedUs);
  for (const count of countsOf(summary)) out.unsigned(count);
  out.number(summary.inputTokens);
  out.number(summary.outputTokens);
  out.number(summary.costUsd);
  out.number(summary.maxStep);
  out.byte((summary.hasContent ? 1 : 0) + (summary.isTruncated ? 2 : 0));
  out.unsigned(summary.rewardMetrics.length);
  for (const [key, value] of summary.rewardMetrics) {
    out.text(key);
    out.number(value);
  }
  return out.done();
}

function countsOf(summary: SummaryRest): number[] {
  const { spans, running, errors, modelCalls, toolCalls, retrievals, rewards, roots, orphans } = summary;
  return [spans, running, errors, modelCalls, toolCalls, retrievals, rewards, roots, orphans];
}

/** Reads what `writeSummaryRest` wrote. @throws CodecError */
export function readSummaryRest(bytes: Uint8Array): SummaryRest {
  const from = createByteReader(bytes, 1);
  const rootSpanId = spanIdText(from.uint32(), from.uint32());
  const endedUs = from.number();
  const counts = Array.from({ length: 9 }, () => from.unsigned());
  const [spans, running, errors, modelCalls, toolCalls, retrievals, rewards, roots, orphans] = counts as [
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  const inputTokens = from.number();
  const outputTokens = from.number();
  const costUsd = from.number();
  const maxStep = from.number();
  const bits = from.byte();
  const rewardMetrics = Array.from({ length: from.unsigned() }, (): [string, number] => [from.text(), from.number()]);
  return {
    rootSpanId,
    endedUs,
    spans,
    running,
    errors,
    modelCalls,
    toolCalls,
    retrievals,
    rewards,
    roots,
    orphans,
    inputTokens,
    outputTokens,
    costUsd,
    maxStep,
    hasContent: (bits & 1) > 0,
    isTruncated: (bits & 2) > 0,
    rewardMetrics,
  };
}
