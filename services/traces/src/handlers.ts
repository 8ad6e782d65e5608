import { appendTraceEvents } from "./append/append-trace-events.ts";
import { listTraces } from "./list/list-traces.ts";
import { getTrace } from "./read/get-trace.ts";
import { measureRemoval } from "./removal/measure-removal.ts";
import { listSpans } from "./read/list-spans.ts";
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
