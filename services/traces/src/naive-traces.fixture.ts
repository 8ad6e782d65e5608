import type { MessageInitShape } from "@bufbuild/protobuf";
import { RedactionState, SpanKind, SpanStatus, type TraceEventSchema } from "@tidemark/proto/traces/v1/traces";

/** An event of a model. */
export type ModelEvent = MessageInitShape<typeof TraceEventSchema> & { readonly spanId: string };

/** A span made from its events by the rules of the contract, in the order in which they arrived. */
export function naiveSpan(events: readonly ModelEvent[]) {
  // Of equal sequences the one that arrived last comes last, because sorting is stable.
  const ordered = events.toSorted((a, b) => a.sequence! - b.sequence!);
  const last = ordered.at(-1)!;
  const latest = <T>(pick: (event: ModelEvent) => T | undefined): T | undefined =>
    ordered.map(pick).findLast((value) => value !== undefined);
  const startedUs = Math.min(...events.map((event) => event.startedUs!));
  const endedUs = latest((event) => event.endedUs);
  return {
    spanId: last.spanId,
    parentSpanId: latest((event) => (event.parentSpanId === "" ? undefined : event.parentSpanId)) ?? "",
    name: last.name!,
    kind: last.kind!,
    status: last.status!,
    startedUs,
    endedUs,
    durationMs:
      latest((event) => event.durationMs) ??
      (endedUs === undefined ? undefined : Math.max(0, endedUs - startedUs) / 1000),
    step: latest((event) => event.step),
    rank: latest((event) => event.rank),
    threadId: last.threadId ?? "",
    attributes: last.attributesJson === undefined ? "" : Buffer.from(last.attributesJson).toString(),
    metrics: (last.metricsJson === undefined ? {} : JSON.parse(Buffer.from(last.metricsJson).toString())) as Record<
      string,
      number
    >,
    redaction: last.redactionState ?? RedactionState.NOT_CAPTURED,
    truncated: last.truncated ?? false,
  };
}

/** A span of a model. */
export type NaiveSpan = ReturnType<typeof naiveSpan>;

const byStart = (a: NaiveSpan, b: NaiveSpan): number =>
  a.startedUs - b.startedUs || (a.spanId < b.spanId ? -1 : a.spanId > b.spanId ? 1 : 0);
const present = (value: number | undefined): value is number => value !== undefined;

/** Returns all spans that the events make, by start, then by id. */
export function naiveSpans(events: readonly ModelEvent[]): NaiveSpan[] {
  return [...Map.groupBy(events, ({ spanId }) => spanId).values()].map(naiveSpan).toSorted(byStart);
}

/** Returns the summary of a trace, each member computed from all spans by itself. */
export function naiveSummary(spans: readonly NaiveSpan[]) {
  const ids = new Set(spans.map(({ spanId }) => spanId));
  const roots = spans.filter(({ parentSpanId }) => parentSpanId === "");
  const orphans = spans.filter(({ parentSpanId }) => parentSpanId !== "" && !ids.has(parentSpanId));
  const root = roots[0] ?? spans[0]!;
  const ends = spans.map(({ endedUs }) => endedUs).filter(present);
  const steps = spans.map(({ step }) => step).filter(present);
  const count = (test: (span: NaiveSpan) => boolean): number => spans.filter(test).length;
  const has = (status: SpanStatus): boolean => spans.some((span) => span.status === status);
  const costs = spans.map(({ metrics }) => metrics["cost_usd"]).filter(present);
  const rewards = spans.filter(({ metrics }) => metrics["reward.total"] !== undefined);
  const tokens = spans.map(({ metrics }) => Math.max(0, metrics["gen_ai.usage.input_tokens"] ?? 0));
  return {
    rootSpanId: root.spanId,
    rootName: root.name,
    status: has(SpanStatus.ERROR)
      ? SpanStatus.ERROR
      : has(SpanStatus.RUNNING)
        ? SpanStatus.RUNNING
        : has(SpanStatus.CANCELLED)
          ? SpanStatus.CANCELLED
          : spans.every(({ status }) => status === SpanStatus.INTERRUPTED)
            ? SpanStatus.INTERRUPTED
            : SpanStatus.OK,
    kinds: [...new Set(spans.map(({ kind }) => kind))].toSorted((a, b) => a - b),
    startedUs: spans[0]!.startedUs,
    endedUs: ends.length === 0 ? undefined : Math.max(...ends),
    spanCount: spans.length,
    runningSpanCount: count(({ status }) => status === SpanStatus.RUNNING),
    errorCount: count(({ status }) => status === SpanStatus.ERROR),
    modelCallCount: count(({ kind }) => kind === SpanKind.MODEL),
    toolCallCount: count(({ kind }) => kind === SpanKind.TOOL),
    inputTokens: tokens.reduce((sum, value) => sum + value, 0),
    costUsd: costs.length === 0 ? undefined : Math.round(costs.reduce((sum, value) => sum + value, 0) * 1e9) / 1e9,
    minStep: steps.length === 0 ? undefined : Math.min(...steps),
    maxStep: steps.length === 0 ? undefined : Math.max(...steps),
    threadId: root.threadId || (spans.find(({ threadId }) => threadId !== "")?.threadId ?? ""),
    rewards: rewards.length === 0 ? {} : { "reward.total": rewards.at(-1)!.metrics["reward.total"] },
    rootCount: roots.length,
    orphanCount: orphans.length + countCycles(spans),
    truncated: spans.some(({ truncated }) => truncated),
  };
}

/** Counts cycles by following parents from each span until one repeats; each cycle is known by its lowest id. */
function countCycles(spans: readonly NaiveSpan[]): number {
  const parents = new Map(spans.map(({ spanId, parentSpanId }) => [spanId, parentSpanId]));
  const found = new Set<string>();
  for (const { spanId } of spans) {
    const walk: string[] = [];
    let at: string | undefined = spanId;
    while (at !== undefined && parents.has(at) && !walk.includes(at)) {
      walk.push(at);
      at = parents.get(at);
    }
    if (at !== undefined && walk.includes(at)) found.add(walk.slice(walk.indexOf(at)).toSorted()[0]!);
  }
  return found.size;
}
