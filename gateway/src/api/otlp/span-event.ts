import type { MessageInitShape } from "@bufbuild/protobuf";
import type { Attributes, OtlpLink, OtlpSpan } from "@tidemark/otlp";
import { TRACE_LIMITS } from "@tidemark/limits";
import { EventKind, RedactionState, SpanStatus, type TraceEventSchema } from "@tidemark/proto/traces/v1/traces";
import { cutList, cutObject, cutText, kindOf, metricsOf, previewsOf, withoutContent } from "./span-fields.ts";

type Event = MessageInitShape<typeof TraceEventSchema>;

/** Attributes that say something about the span itself, and are not kept as attributes. */
const directions = new Set(["tidemark.kind", "tidemark.step", "tidemark.content_policy", "tidemark.run_id"]);

/**
 * Turns a span of OTLP into the event that reports it as finished, or returns why it cannot be stored. Its sequence is its end, so that a span that arrives
 * again changes nothing, and one that ended later replaces it. Times are cut to microseconds. Content is kept only where `tidemark.content_policy` of the
 * span or its resource is `preview`. Values that are too long are cut, and the span is marked.
 */
export function eventOf(span: OtlpSpan, resource: Attributes): Event | { readonly rejected: string } {
  const rejected = faultOf(span);
  if (rejected !== undefined) return { rejected };
  const startedUs = microseconds(span.startNs);
  const endedUs = span.endNs === 0n ? undefined : microseconds(span.endNs);
  const parts = cutParts(span, resource);
  return {
    traceId: span.traceId,
    spanId: span.spanId,
    parentSpanId: /^0*$/.test(span.parentSpanId) ? "" : span.parentSpanId,
    sequence: endedUs ?? 0,
    eventKind: endedUs === undefined ? EventKind.STARTED : EventKind.FINISHED,
    kind: kindOf(span.attributes),
    status: statusOf(span),
    startedUs,
    ...(endedUs === undefined ? {} : { endedUs }),
    ...stepOf(span.attributes),
    ...parts,
  };
}

function faultOf({ traceId, spanId, parentSpanId, startNs, endNs }: OtlpSpan): string | undefined {
  if (!isId(traceId, 32)) return "the trace id must be 16 bytes that are not all zeros";
  if (!isId(spanId, 16)) return "the span id must be 8 bytes that are not all zeros";
  if (!/^0*$/.test(parentSpanId) && !isId(parentSpanId, 16)) return "the parent span id must be 8 bytes";
  if (parentSpanId === spanId) return "a span must not be its own parent";
  if (startNs === 0n) return "the start time is required";
  if (startNs > LATEST_NS || endNs > LATEST_NS) return "times must be before June 2255";
  if (endNs !== 0n && microseconds(endNs) < microseconds(startNs) - TRACE_LIMITS.skewUsMax)
    return "the span ends before it starts";
  return undefined;
}

/** Doubles hold whole microseconds to this moment, in the year 2255. */
const LATEST_NS = BigInt(Number.MAX_SAFE_INTEGER) * 1000n;

function isId(id: string, digits: number): boolean {
  return id.length === digits && !/^0*$/.test(id);
}

function microseconds(nanoseconds: bigint): number {
  return Number(nanoseconds / 1000n);
}

function statusOf({ failed, endNs }: OtlpSpan): SpanStatus {
  if (failed) return SpanStatus.ERROR;
  return endNs === 0n ? SpanStatus.RUNNING : SpanStatus.OK;
}

function stepOf(attributes: Attributes): { readonly step?: number } {
  const step = attributes.get("tidemark.step")?.number;
  return step === undefined ? {} : { step };
}

/** The parts that may be too long. */
function cutParts(span: OtlpSpan, resource: Attributes): Event {
  let truncated = false;
  const kept = <T>({ value, isCut }: { readonly value: T; readonly isCut: boolean }): T => {
    truncated ||= isCut;
    return value;
  };
  const text = (sent: string): string => kept(cutText(sent.replaceAll("\0", "\u{FFFD}"), TRACE_LIMITS.textBytesMax));
  const preview = (sent: string): string => kept(cutText(sent, TRACE_LIMITS.previewBytesMax));
  const { attributes, events, links } = span;
  const exception = events.find(({ name }) => name === "exception")?.attributes;
  const own = new Map(Array.from(withoutContent(attributes)).filter(([name]) => !directions.has(name)));
  const facts = {
    name: text(span.name.trim() === "" ? "unknown" : span.name),
    threadId: text(textOf(attributes, "gen_ai.conversation.id") || textOf(attributes, "session.id")),
    errorType: text(textOf(exception, "exception.type") || textOf(attributes, "error.type")),
    attributesJson: kept(cutObject(own, TRACE_LIMITS.attributesBytesMax)),
    metricsJson: kept(cutObject(metricsOf(attributes), TRACE_LIMITS.metricsBytesMax)),
    linksJson: Buffer.from(`[${kept(cutList(links.map(linkJson), TRACE_LIMITS.linksBytesMax)).join(",")}]`),
  };
  const policy = textOf(attributes, "tidemark.content_policy") || textOf(resource, "tidemark.content_policy");
  if (policy !== "preview") {
    return { ...facts, previews: false, redactionState: RedactionState.NOT_CAPTURED, truncated };
  }
  const { input, output } = previewsOf(span);
  const previews = {
    inputPreview: preview(input),
    outputPreview: preview(output),
    errorPreview: preview(textOf(exception, "exception.message") || span.statusText),
  };
  const isCut = previews.inputPreview !== input || previews.outputPreview !== output;
  const hasContent = input !== "" || output !== "";
  const redactionState = isCut
    ? RedactionState.TRUNCATED
    : hasContent
      ? RedactionState.CAPTURED
      : RedactionState.NOT_CAPTURED;
  return { ...facts, ...previews, previews: true, redactionState, truncated };
}

function linkJson({ traceId, spanId, attributes }: OtlpLink): string {
  const { value } = cutObject(attributes, TRACE_LIMITS.linksBytesMax);
  return `{"trace_id":"${traceId}","span_id":"${spanId}","attributes":${Buffer.from(value).toString()}}`;
}

function textOf(attributes: Attributes | undefined, name: string): string {
  return attributes?.get(name)?.text ?? "";
}
