import type { TraceEvent } from "@tidemark/proto/traces/v1/traces";
import { newSpanRecord, writePayload, type SpanRecord, NONE, type SpanPayload } from "@tidemark/codecs/spans";
import { createSpanTable } from "../fold/span-table.rules.ts";
import { APPENDED, createSegmentsWriter, type EncodedSegment } from "../state/segments.rules.ts";
import { badRequest } from "@tidemark/errors";
import { REDACTION_STATES, TRACE_LIMITS } from "@tidemark/limits";
import { firstRewards, REWARD_BYTES } from "../fold/rewards.rules.ts";

/** The records that a request adds to one trace. */
export type TraceAddition = {
  readonly traceId: string;
  /** One record for each span, with the place where it is. */
  readonly records: readonly { readonly record: SpanRecord; readonly segment: number; readonly place: number }[];
  readonly segments: readonly EncodedSegment[];
};

/** Makes a record of an event. */
type ToRecord = (event: TraceEvent) => SpanRecord;

/** Sorts checked events by trace, ascending, and folds the events of one span into one record; pauses where other work may run. */
export function* arrangeSteps(
  events: readonly TraceEvent[],
  toRecord: ToRecord = recordOf,
): Generator<void, TraceAddition[]> {
  const byTrace = Map.groupBy(events, ({ traceId }) => traceId);
  const additions: TraceAddition[] = [];
  for (const traceId of [...byTrace.keys()].toSorted()) {
    const writer = createSegmentsWriter(APPENDED);
    const records: TraceAddition["records"][number][] = [];
    for (const { record, event } of yield* foldSteps(byTrace.get(traceId)!, toRecord)) {
      records.push({ record, ...writer.add(record, (to) => writePayload(to, payloadOf(event))) });
      yield;
    }
    additions.push({ traceId, records, segments: writer.done() });
    yield;
  }
  return additions;
}

type FoldedEvent = { record: SpanRecord; event: TraceEvent };

/** Returns a record for each span, with the event that its payload comes from. */
function* foldSteps(events: readonly TraceEvent[], toRecord: ToRecord): Generator<void, FoldedEvent[]> {
  const records: FoldedEvent[] = [];
  for (const event of events) {
    records.push({ record: toRecord(event), event });
    yield;
  }
  if (new Set(events.map(({ spanId }) => spanId)).size === events.length) return records;
  const table = createSpanTable();
  records.forEach(({ record }, i) => table.fold(record, 0, i));
  return Array.from({ length: table.ids.count }, (_, span) => {
    const record = newSpanRecord();
    table.read(span, record);
    return { record, event: events[table.columns.place[span]!]! };
  });
}

/** Metrics that sums are made of (API specification, GET /api/traces). */
const INPUT_TOKENS = "gen_ai.usage.input_tokens";
const OUTPUT_TOKENS = "gen_ai.usage.output_tokens";
const COSTS = ["gen_ai.usage.cost_usd", "cost_usd"] as const;
/** Metrics that summaries keep. */
const REWARD_PREFIX = "reward.";
const EMPTY_DOCUMENT_BYTES = 2;

/** Returns the record of a span from one event alone. Its payload is not counted yet. @throws bad_request for metrics that are not a JSON object */
export function recordOf(event: TraceEvent): SpanRecord {
  const { sequence: seq, spanId, parentSpanId } = event;
  const record = newSpanRecord();
  record.idHigh = Number.parseInt(spanId.slice(0, 8), 16);
  record.idLow = Number.parseInt(spanId.slice(8), 16);
  record.seq = seq;
  if (parentSpanId !== "") {
    record.parentHigh = Number.parseInt(parentSpanId.slice(0, 8), 16);
    record.parentLow = Number.parseInt(parentSpanId.slice(8), 16);
    record.parentSeq = seq;
  }
  record.startUs = event.startedUs;
  record.endUs = event.endedUs ?? Number.NaN;
  record.endSeq = event.endedUs === undefined ? NONE : seq;
  record.durationMs = event.durationMs ?? Number.NaN;
  record.durationSeq = event.durationMs === undefined ? NONE : seq;
  record.step = event.step ?? Number.NaN;
  record.stepSeq = event.step === undefined ? NONE : seq;
  record.rank = event.rank ?? Number.NaN;
  record.rankSeq = event.rank === undefined ? NONE : seq;
  record.kind = event.kind;
  record.status = event.status;
  record.redaction = event.redactionState || REDACTION_STATES.indexOf("not_captured") + 1;
  record.hasPreviews = event.previews;
  record.isTruncated = event.truncated;
  record.hasContent = event.inputPreview !== "" || event.outputPreview !== "";
  record.name = event.name;
  record.threadId = event.threadId;
  record.rolloutId = event.rolloutId;
  if (event.metricsJson.length > EMPTY_DOCUMENT_BYTES) readMetrics(event.metricsJson, record);
  return record;
}

/** Returns the parts of an event that are stored unread. */
function payloadOf(event: TraceEvent): SpanPayload {
  return {
    attributesJson: emptyIfEmpty(event.attributesJson),
    metricsJson: emptyIfEmpty(event.metricsJson),
    linksJson: event.linksJson,
    errorType: event.errorType,
    inputPreview: event.inputPreview,
    outputPreview: event.outputPreview,
    errorPreview: event.errorPreview,
  };
}

const nothing = new Uint8Array();

/** `{}` is what no bytes mean. */
function emptyIfEmpty(json: Uint8Array): Uint8Array {
  return json.length <= EMPTY_DOCUMENT_BYTES ? nothing : json;
}

function readMetrics(json: Uint8Array, record: SpanRecord): void {
  const text = Buffer.from(json.buffer, json.byteOffset, json.byteLength).toString("utf8");
  const metrics = parseObject(text);
  record.inputTokens = numberOf(metrics[INPUT_TOKENS]);
  record.outputTokens = numberOf(metrics[OUTPUT_TOKENS]);
  record.costUsd = numberOf(COSTS.map((name) => metrics[name]).find((value) => typeof value === "number"));
  if (!text.includes(REWARD_PREFIX)) return;
  const rewards = Object.entries(metrics).filter(
    (entry): entry is [string, number] => entry[0].startsWith(REWARD_PREFIX) && typeof entry[1] === "number",
  );
  // What comes behind the first one that the summary of this span alone has no room for can be in no summary.
  const isFitting = json.length + REWARD_BYTES * rewards.length <= TRACE_LIMITS.metricsBytesMax;
  record.rewards = isFitting ? rewards : firstRewards(rewards, 1);
}

function parseObject(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null) return value as Readonly<Record<string, unknown>>;
  } catch {
    // Text that is not JSON is refused as other values are.
  }
  throw badRequest("metrics must be a JSON object", "events");
}

function numberOf(value: unknown): number {
  return typeof value === "number" ? value : Number.NaN;
}
