import { TRACE_LIMITS } from "@tidemark/limits";
import { route, type Route } from "../../route.ts";
import { ingestCallers, readCallers } from "../callers.ts";
import { booleanSchema, countSchema, listSchema, objectSchema, textOrNullSchema } from "../replies.ts";
import { appendTraceEventsBody, decodeAppendTraceEvents, encodeAppendTraceEvents } from "./append.ts";
import {
  decodeGetTrace,
  decodeListSpans,
  decodeListTraces,
  encodeGetTrace,
  encodeListSpans,
  encodeListTraces,
  getTraceQuery,
  heldBySpans,
  listSpansQuery,
  listTracesQuery,
} from "./read.ts";
import { listedTraceSchema, spanSchema, traceSchema } from "./rows.ts";

/** Traces of runs: events in, folded spans out. */
export const tracesRoutes: readonly Route[] = [
  route({
    method: "POST",
    path: "/api/runs/{run_id}/traces/events",
    tag: "traces",
    summary: "Report events of spans",
    description:
      "All of them are stored or none. Of several events of a span the one with the highest sequence counts, whenever it arrives; the start is the earliest, and parent, end, duration, step and rank are the last ones that were named.",
    callers: ingestCallers,
    rate: "ingest",
    isHeartbeat: true,
    idempotency: "required",
    idempotencyKeyMax: TRACE_LIMITS.keyBytesMax,
    body: "required",
    bodyBytesMax: 4 * 1024 * 1024,
    exactNumbers: true,
    bareTokens: true,
    schemas: {
      body: appendTraceEventsBody.schema,
      response: objectSchema({
        inserted: { ...countSchema, description: "Events." },
        trace_ids: listSchema({ type: "string", pattern: "^[0-9a-f]{32}$" }),
        summary_updates: { ...countSchema, description: "Traces." },
      }),
    },
    statuses: [200, 400, 401, 402, 403, 404, 409],
    decode: decodeAppendTraceEvents,
    rpc: (clients, request, call) => clients.traces.appendTraceEvents(request, call),
    encode: encodeAppendTraceEvents,
  }),
  route({
    method: "GET",
    path: "/api/traces",
    tag: "traces",
    summary: "Traces of runs or a project",
    description:
      "The trace that started last first, unless `sort` says otherwise. A run, some runs, a project, or a key that is bound to a project says whose.",
    callers: readCallers,
    rate: "general",
    idempotency: "none",
    schemas: {
      query: listTracesQuery.schema,
      response: objectSchema(
        {
          traces: listSchema(listedTraceSchema),
          next_cursor: textOrNullSchema,
          limit: countSchema,
          sorted_count: {
            ...countSchema,
            description: "Among how many traces the highest were found, where `sort` is another figure than the start.",
          },
        },
        ["sorted_count"],
      ),
    },
    statuses: [200, 400, 401, 403, 404],
    decode: decodeListTraces,
    rpc: (clients, request, call) => clients.traces.listTraces(request, call),
    encode: encodeListTraces,
  }),
  route({
    method: "GET",
    path: "/api/runs/{run_id}/traces/{trace_id}",
    tag: "traces",
    summary: "A trace with its roots",
    description: "Status, counts and times are those of all spans. Of a trace without roots the first spans are shown.",
    callers: readCallers,
    rate: "general",
    idempotency: "none",
    schemas: {
      query: getTraceQuery.schema,
      response: objectSchema({
        trace: traceSchema,
        spans: listSchema(spanSchema),
        limits: objectSchema({ span_limit: countSchema, max_span_limit: countSchema }),
        truncated: objectSchema({
          spans: { ...booleanSchema, description: "There are more roots." },
          payloads: booleanSchema,
          partial_tree: { ...booleanSchema, description: "Some spans are not among those shown." },
        }),
        root_next_cursor: textOrNullSchema,
      }),
    },
    statuses: [200, 400, 401, 403, 404],
    decode: decodeGetTrace,
    rpc: (clients, request, call) => clients.traces.getTrace(request, call),
    encode: encodeGetTrace,
    heldBytes: heldBySpans,
  }),
  route({
    method: "GET",
    path: "/api/runs/{run_id}/traces/{trace_id}/spans",
    tag: "traces",
    summary: "Children of a span, or other spans of a trace",
    description: "By start, then by id. Children of a span that has not arrived are found as well.",
    callers: readCallers,
    rate: "general",
    idempotency: "none",
    schemas: {
      query: listSpansQuery.schema,
      response: objectSchema({
        parent_span_id: textOrNullSchema,
        spans: listSchema(spanSchema),
        next_cursor: textOrNullSchema,
        child_count: { ...countSchema, description: "All children, or all that `select` names." },
        returned: countSchema,
        omitted: { ...countSchema, description: "Children that are not on this page." },
      }),
    },
    statuses: [200, 400, 401, 403, 404],
    decode: decodeListSpans,
    rpc: (clients, request, call) => clients.traces.listSpans(request, call),
    encode: encodeListSpans,
    heldBytes: heldBySpans,
  }),
];
