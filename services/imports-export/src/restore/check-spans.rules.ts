import type { LineOf } from "@tidemark/archive";
import { badRequest } from "@tidemark/errors";
import { TRACE_LIMITS } from "@tidemark/limits";

type Span = LineOf<"trace.spans">["spans"][number];

const ZEROS = /^0+$/;

/** Refuses spans that the service would refuse. @throws bad_request */
export function checkSpans({ trace_id, spans }: Pick<LineOf<"trace.spans">, "trace_id" | "spans">): void {
  if (ZEROS.test(trace_id)) throw badRequest("trace_id must not be all 0");
  for (const [i, span] of spans.entries()) {
    const fault = faultOfNumbers(span) ?? faultOfTexts(span);
    if (fault !== undefined) throw badRequest(`spans[${i}]: ${fault}`);
  }
}

function faultOfNumbers(span: Span): string | undefined {
  const { span_id, parent_span_id, started_at, ended_at, duration_ms, rank } = span;
  if (ZEROS.test(span_id) || ZEROS.test(parent_span_id ?? "1")) return "ids must not be all 0";
  if (span_id === parent_span_id) return "parent_span_id must be another span than span_id";
  if (!Number.isInteger(started_at)) return "started_at must be whole microseconds";
  if (ended_at !== undefined && !(Number.isInteger(ended_at) && ended_at >= started_at - TRACE_LIMITS.skewUsMax)) {
    return "ended_at must be whole microseconds, and not more than 1 s before started_at";
  }
  if (duration_ms !== undefined && duration_ms < 0) return "duration_ms must be at least 0";
  return rank !== undefined && !(Number.isSafeInteger(rank) && rank >= 0) ? "rank must be a whole number" : undefined;
}

function faultOfTexts(span: Span): string | undefined {
  if (span.name === "") return "name must not be empty";
  const { textBytesMax, previewBytesMax, attributesBytesMax, metricsBytesMax, linksBytesMax } = TRACE_LIMITS;
  const bounds: Partial<Record<keyof Span, number>> = {
    name: textBytesMax,
    thread_id: textBytesMax,
    rollout_id: textBytesMax,
    error_type: textBytesMax,
    input_preview: previewBytesMax,
    output_preview: previewBytesMax,
    error_preview: previewBytesMax,
    attributes: attributesBytesMax,
    metrics: metricsBytesMax,
    links: linksBytesMax,
  };
  for (const [name, bytesMax] of Object.entries(bounds)) {
    const text = span[name as keyof Span];
    if (typeof text === "string" && Buffer.byteLength(text) > bytesMax)
      return `${name} must have at most ${bytesMax} bytes`;
  }
  const hasPreview = [span.input_preview, span.output_preview, span.error_preview].some((text) => (text ?? "") !== "");
  const isShown = hasPreview || span.redaction_state === "captured";
  return isShown && !span.previews ? "previews need the content policy that allows them" : undefined;
}
