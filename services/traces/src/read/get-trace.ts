import { SPANS_PAGE_ROWS, TRACE_ROOTS } from "@tidemark/limits";
import { callerOf, pathId, requireLimit, throwFault } from "@tidemark/requests";
import { badRequest } from "@tidemark/errors";
import type { TracesDeps, TracesHandlers } from "../deps.ts";
import { findRunLabels } from "../runs/labels.sql.ts";
import { readSpanCursor, rootsOf, type WantedSpans } from "./choose-spans.rules.ts";
import { encodeTrace } from "./encode-trace.ts";
import { readSpans, requireTraceId } from "./read-spans.ts";

/** TracesService.GetTrace. @throws not_found, bad_request */
export function getTrace(deps: TracesDeps): TracesHandlers["getTrace"] {
  return async (request, call) => {
    const caller = callerOf(call);
    const { orgId } = caller;
    const runId = pathId(request.runId, "run");
    await deps.runs.require(caller, [runId]);
    const traceId = requireTraceId(request.traceId);
    throwFault(request.queryFault);
    const limit = requireLimit(request.spanLimit, TRACE_ROOTS.max, "span_limit");
    const read = await readSpans(deps, { key: { orgId, runId, traceId }, wanted: rootsOf, after: undefined, limit });
    const labels = await deps.db.readTenant(orgId, (tx) => findRunLabels(tx, orgId, [runId]));
    const { summary, updatedUs, nextCursor } = read;
    return {
      trace: encodeTrace({ traceId, updatedUs, label: labels.get(runId)!, summary }),
      spans: read.spans,
      spansTruncated: nextCursor !== "",
      nextCursor,
    };
  };
}

/** TracesService.ListSpans. A parent that is not among the spans may still have children. @throws not_found, bad_request */
export function listSpans(deps: TracesDeps): TracesHandlers["listSpans"] {
  return async (request, call) => {
    const caller = callerOf(call);
    const { orgId } = caller;
    const runId = pathId(request.runId, "run");
    await deps.runs.require(caller, [runId]);
    const traceId = requireTraceId(request.traceId);
    throwFault(request.queryFault);
    const parent = readParent(request.parentSpanId);
    const limit = requireLimit(request.limit, SPANS_PAGE_ROWS.max);
    const after = readSpanCursor(request.cursor);
    const read = await readSpans(deps, {
      key: { orgId, runId, traceId },
      wanted: (fold) => parent ?? rootsOf(fold),
      after,
      limit,
    });
    return { spans: read.spans, nextCursor: read.nextCursor, childCount: read.count };
  };
}

/** @throws bad_request */
function readParent(text: string): WantedSpans | undefined {
  if (text === "") return undefined;
  if (!/^(?!0{16})[0-9a-fA-F]{16}$/.test(text)) {
    throw badRequest("parent_span_id must be 16 hexadecimal digits that are not all 0", "parent_span_id");
  }
  return { parentHigh: Number.parseInt(text.slice(0, 8), 16), parentLow: Number.parseInt(text.slice(8), 16) };
}
