import { badRequest } from "@tidemark/errors";
import { REDACTION_STATES, SPAN_KINDS, SPAN_STATUSES, TRACE_EVENT_KINDS, TRACE_LIMITS } from "@tidemark/limits";
import { spansInCycles } from "@tidemark/codecs/spans";
import type { TraceEvent } from "@tidemark/proto/traces/v1/traces";

const TRACE_ID = /^(?!0{32})[0-9a-f]{32}$/;
const SPAN_ID = /^(?!0{16})[0-9a-f]{16}$/;
const FIELD = "events";
const CAPTURED = REDACTION_STATES.indexOf("captured") + 1;

/**
 * Checks the events of a request together, and the fields of each event that would harm others if wrong: ids, numbers and sizes (contract 10.1).
 * @throws bad_request
 */
export function checkEvents(events: readonly TraceEvent[], hasKey: boolean): void {
  const most = hasKey ? TRACE_LIMITS.eventsMax : TRACE_LIMITS.exportedSpansMax;
  if (events.length === 0 || events.length > most) throw badRequest(`events must have 1 to ${most} items`, FIELD);
  const eventIds = new Set<string>();
  const sequences = new Set<string>();
  const parents = new Map<string, string>();
  events.forEach((event, i) => {
    const refuse = (text: string): never => {
      throw badRequest(`events[${i}]: ${text}`, FIELD);
    };
    const fault = faultOfEvent(event);
    if (fault !== undefined) refuse(fault);
    if (event.eventId !== "") {
      if (eventIds.has(event.eventId)) refuse("event_id is that of another event");
      eventIds.add(event.eventId);
    }
    const span = `${event.traceId}${event.spanId}`;
    const sequence = `${span}${event.sequence}`;
    if (sequences.has(sequence)) refuse("sequence is that of another event of the span");
    sequences.add(sequence);
    if (event.parentSpanId === "") return;
    const before = parents.get(span);
    if (before !== undefined && before !== event.parentSpanId)
      refuse("parent_span_id differs from that of another event of the span");
    parents.set(span, event.parentSpanId);
  });
  if (spansInCycles(parents).size > 0) throw badRequest("events: the parents of some spans form a cycle", FIELD);
}

/** Returns the fault of one event by itself. */
export function faultOfEvent(event: TraceEvent): string | undefined {
  if (!TRACE_ID.test(event.traceId)) return "trace_id must be 32 hexadecimal digits that are not all 0";
  if (!SPAN_ID.test(event.spanId)) return "span_id must be 16 hexadecimal digits that are not all 0";
  if (event.parentSpanId !== "") {
    if (!SPAN_ID.test(event.parentSpanId)) return "parent_span_id must be 16 hexadecimal digits that are not all 0";
    if (event.parentSpanId === event.spanId) return "parent_span_id must be another span than span_id";
  }
  if (!isCount(event.sequence)) return "sequence must be a whole number of at least 0";
  if (!isNumberOf(TRACE_EVENT_KINDS, event.eventKind)) return "event_kind is unknown";
  if (!isNumberOf(SPAN_KINDS, event.kind)) return "kind is unknown";
  if (!isNumberOf(SPAN_STATUSES, event.status)) return "status is unknown";
  if (event.redactionState !== 0 && !isNumberOf(REDACTION_STATES, event.redactionState))
    return "redaction_state is unknown";
  if (event.name === "") return "name must not be empty";
  if (!Number.isInteger(event.startedUs)) return "started_at must be whole microseconds";
  if (event.endedUs !== undefined) {
    if (!Number.isInteger(event.endedUs)) return "ended_at must be whole microseconds";
    if (event.endedUs < event.startedUs - TRACE_LIMITS.skewUsMax) {
      return "ended_at must not be more than 1 s before started_at";
    }
  }
  if (event.durationMs !== undefined && !(event.durationMs >= 0 && Number.isFinite(event.durationMs))) {
    return "duration_ms must be a finite number of at least 0";
  }
  if (event.step !== undefined && !Number.isFinite(event.step)) return "step must be a finite number";
  if (event.rank !== undefined && !isCount(event.rank)) return "rank must be a whole number of at least 0";
  return faultOfSizes(event) ?? faultOfPolicy(event);
}

function faultOfSizes(event: TraceEvent): string | undefined {
  const { textBytesMax, previewBytesMax, attributesBytesMax, metricsBytesMax, linksBytesMax } = TRACE_LIMITS;
  const texts: readonly (readonly [string, string, number])[] = [
    ["name", event.name, textBytesMax],
    ["thread_id", event.threadId, textBytesMax],
    ["rollout_id", event.rolloutId, textBytesMax],
    ["error_type", event.errorType, textBytesMax],
    ["input_preview", event.inputPreview, previewBytesMax],
    ["output_preview", event.outputPreview, previewBytesMax],
    ["error_preview", event.errorPreview, previewBytesMax],
  ];
  for (const [name, text, bytesMax] of texts) {
    if (text === "") continue;
    if (text.length * 3 > bytesMax && Buffer.byteLength(text) > bytesMax)
      return `${name} must have at most ${bytesMax} bytes`;
    if (text.includes("\0")) return `${name} must not contain NUL`;
  }
  if (event.attributesJson.length > attributesBytesMax)
    return `attributes must have at most ${attributesBytesMax} bytes`;
  if (event.metricsJson.length > metricsBytesMax) return `metrics must have at most ${metricsBytesMax} bytes`;
  if (event.linksJson.length > linksBytesMax) return `links must have at most ${linksBytesMax} bytes`;
  return undefined;
}

function faultOfPolicy(event: TraceEvent): string | undefined {
  if (event.previews) return undefined;
  if (event.inputPreview !== "" || event.outputPreview !== "" || event.errorPreview !== "") {
    return "previews need the content_policy preview";
  }
  if (event.redactionState === CAPTURED) return "redaction_state captured needs the content_policy preview";
  return undefined;
}

/** Returns whether a number stands for one of the words; the first one is 1. */
function isNumberOf(words: readonly string[], number: number): boolean {
  return number >= 1 && number <= words.length;
}

function isCount(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 0;
}

/** The response to an append: how many events were stored, and their traces, ascending. */
export type AppendAnswer = { readonly inserted: number; readonly traceIds: readonly string[] };

const COUNT_BYTES = 4;
const ID_BYTES = 16;

/** Writes an answer as the record of an idempotency key keeps it. */
export function writeAnswer({ inserted, traceIds }: AppendAnswer): Uint8Array {
  const bytes = Buffer.alloc(COUNT_BYTES + ID_BYTES * traceIds.length);
  bytes.writeUInt32BE(inserted);
  traceIds.forEach((id, i) => bytes.write(id, COUNT_BYTES + ID_BYTES * i, "hex"));
  return bytes;
}

/** Reads what `writeAnswer` wrote. */
export function readAnswer(bytes: Uint8Array): AppendAnswer {
  const all = Buffer.from(bytes);
  const traces = (all.length - COUNT_BYTES) / ID_BYTES;
  const idAt = (i: number): string => all.toString("hex", COUNT_BYTES + ID_BYTES * i, COUNT_BYTES + ID_BYTES * (i + 1));
  return { inserted: all.readUInt32BE(), traceIds: Array.from({ length: traces }, (_, i) => idAt(i)) };
}
