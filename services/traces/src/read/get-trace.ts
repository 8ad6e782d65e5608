import { TRACE_ROOTS } from "@tidemark/limits";
import { callerOf, pathId, requireLimit, throwFault } from "@tidemark/requests";
import type { TracesDeps, TracesHandlers } from "../deps.ts";
import { findRunLabels } from "../runs/labels.sql.ts";
import { rootsOf } from "./choose-spans.rules.ts";
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
