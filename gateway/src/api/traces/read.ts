import type { MessageInitShape } from "@bufbuild/protobuf";
import { SPANS_PAGE_ROWS, TRACE_ROOTS } from "@tidemark/limits";
import type {
  GetTraceRequestSchema,
  GetTraceResponse,
  ListSpansRequestSchema,
  ListSpansResponse,
  Span,
} from "@tidemark/proto/traces/v1/traces";
import { writeListInTurns } from "../../http/json.ts";
import type { EncoderInput, RouteInput, RouteReply } from "../../route.ts";
import { object, withFault } from "../fields/field.ts";
import { limit } from "../fields/number.ts";
import { queryText } from "../fields/text.ts";
import { requireMessage, textOrNull } from "../replies.ts";
import { spanJson, traceJson } from "./rows.ts";

/** Query of GET /api/runs/{run_id}/traces/{trace_id}. */
export const getTraceQuery = object({ span_limit: limit(TRACE_ROOTS) });

/** GET /api/runs/{run_id}/traces/{trace_id}. Faults of the query travel in the message, because a missing run takes precedence. */
export function decodeGetTrace({ params, query }: RouteInput): MessageInitShape<typeof GetTraceRequestSchema> {
  const { value, fault } = withFault(() => getTraceQuery.read(query));
  return { runId: params["run_id"]!, traceId: params["trace_id"]!, ...value, queryFault: fault };
}

/** Returns about the bytes that the spans of a page hold in memory. */
export function heldBySpans({ spans }: { readonly spans: readonly Span[] }): number {
  return spans.reduce(
    (bytes, { attributesJson, metricsJson, linksJson }) =>
      bytes + attributesJson.length + metricsJson.length + linksJson.length,
    0,
  );
}

/** The trace with its roots. */
export async function encodeGetTrace(
  { trace, spans, spansTruncated, nextCursor }: GetTraceResponse,
  { spanLimit = TRACE_ROOTS.default }: MessageInitShape<typeof GetTraceRequestSchema>,
): Promise<RouteReply> {
  const found = requireMessage(trace);
  return {
    body: {
      trace: traceJson(found, spans.length),
      spans: await writeListInTurns(spans, (span) => spanJson(span, found.traceId)),
      limits: { span_limit: spanLimit, max_span_limit: TRACE_ROOTS.max },
      truncated: { spans: spansTruncated, payloads: false, partial_tree: spans.length < found.spanCount },
      root_next_cursor: textOrNull(nextCursor),
    },
  };
}

/** Query of GET /api/runs/{run_id}/traces/{trace_id}/spans. */
export const listSpansQuery = object({
  parent_span_id: queryText({
    description: "16 hexadecimal digits; the roots without it.",
    pattern: "^(?:[0-9a-fA-F]{16})?$",
  }),
  limit: limit(SPANS_PAGE_ROWS),
  cursor: queryText({ description: "`next_cursor` of the page before, or `root_next_cursor` of the trace." }),
});

/** GET /api/runs/{run_id}/traces/{trace_id}/spans. Faults of the query travel in the message. */
export function decodeListSpans({ params, query }: RouteInput): MessageInitShape<typeof ListSpansRequestSchema> {
  const { value, fault } = withFault(() => listSpansQuery.read(query));
  return { runId: params["run_id"]!, traceId: params["trace_id"]!, ...value, queryFault: fault };
}

/** A page of children or roots. */
export async function encodeListSpans(
  { spans, nextCursor, childCount }: ListSpansResponse,
  { parentSpanId = "" }: MessageInitShape<typeof ListSpansRequestSchema>,
  { params }: EncoderInput,
): Promise<RouteReply> {
  const traceId = params["trace_id"]!.toLowerCase();
  return {
    body: {
      parent_span_id: textOrNull(parentSpanId.toLowerCase()),
      spans: await writeListInTurns(spans, (span) => spanJson(span, traceId)),
      next_cursor: textOrNull(nextCursor),
      child_count: childCount,
      returned: spans.length,
      omitted: childCount - spans.length,
    },
  };
}
