import { appendTraceEvents } from "./append/append-trace-events.ts";
import { listTraces } from "./list/list-traces.ts";
import { getTrace, listSpans } from "./read/get-trace.ts";
import { measureRemoval } from "./removal/remove-traces.ts";
import type { TracesDeps, TracesHandlers } from "./deps.ts";

/** Every RPC of the service. */
export function tracesHandlers(deps: TracesDeps): TracesHandlers {
  return {
    appendTraceEvents: appendTraceEvents(deps),
    listTraces: listTraces(deps),
    getTrace: getTrace(deps),
    listSpans: listSpans(deps),
    measureRemoval: measureRemoval(deps),
  };
}
