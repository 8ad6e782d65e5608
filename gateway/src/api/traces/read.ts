import type { MessageInitShape } from "@bufbuild/protobuf";
import { badRequest } from "@tidemark/errors";
import {
  SPAN_KINDS,
  SPAN_SELECTIONS,
  SPAN_STATUSES,
  SPANS_PAGE_ROWS,
  TRACE_ROOTS,
  TRACE_SORTS,
  TRACES_RUNS_MAX,
  TRACES_SORTED_MAX,
  TRACES_PAGE_ROWS,
} from "@tidemark/limits";
import type {
  GetTraceRequestSchema,
  GetTraceResponse,
  ListSpansRequestSchema,
  ListSpansResponse,
  ListTracesRequestSchema,
  ListTracesResponse,
  Span,
} from "@tidemark/proto/traces/v1/traces";
import { writeListInTurns } from "../../http/json.ts";
import type { EncoderInput, RouteInput, RouteReply } from "../../route.ts";
import { object, withFault, type Field } from "../fields/field.ts";
import { parseMicros } from "../fields/instant.ts";
import { limit, queryNumber } from "../fields/number.ts";
import { querySearch, queryText } from "../fields/text.ts";
import { requireMessage, textOrNull } from "../replies.ts";
import { runIdList } from "../runs/body-filter.ts";
import { listedTraceJson, spanJson, traceJson } from "./rows.ts";

/** Describes an instant in a query; `undefined` when absent or blank. */
function queryInstant(description: string): Field<number | undefined> {
  return {
    schema: { type: "string", format: "date-time", description },
    required: false,
    absent: () => undefined,
    check: (value, name) => {
      if (typeof value !== "string" || value.trim() === "") return undefined;
      const micros = parseMicros(value);
      if (micros === undefined) throw badRequest(`${name} must be an RFC 3339 time with a zone`, name);
      return micros;
    },
  };
}

/** Query of GET /api/traces. */
export const listTracesQuery = object({
  project_id: queryText({ description: "The project. `run_id` goes before it." }),
  project: queryText({ description: "The name of the project, unless its id or a run is given." }),
  run_id: queryText({ description: "Traces of this run only." }),
  run_ids: runIdList(
    TRACES_RUNS_MAX,
    `Traces of these runs only: ids of 1 to ${TRACES_RUNS_MAX} runs, separated by commas. Left aside with \`run_id\`; goes before a project.`,
  ),
  status: queryText({ enum: [...SPAN_STATUSES, "all", ""] }),
  kind: queryText({ enum: [...SPAN_KINDS, "all", ""], description: "Traces with a span of this kind." }),
  q: querySearch(
    "Up to eight words, all of which have to be found: in the name of the root, the rollout or the thread, where ASCII case does not matter, or at the beginning of the trace's id.",
  ),
  from: queryInstant("Started then or later. Default: seven days ago, of runs the beginning."),
  to: queryInstant("Started before."),
  min_step: {
    ...queryNumber(),
    schema: { ...queryNumber().schema, description: "Bound of the lowest step of a trace." },
  },
  max_step: queryNumber(),
  sort: queryText({
    enum: [...TRACE_SORTS, ""],
    description: `The highest first: by start (default), or by another figure among the newest ${TRACES_SORTED_MAX} traces.`,
  }),
  limit: limit(TRACES_PAGE_ROWS),
  cursor: queryText(),
});

/** GET /api/traces. Faults of the query travel in the message, because a missing run or project takes precedence. */
export function decodeListTraces({ query }: RouteInput): MessageInitShape<typeof ListTracesRequestSchema> {
  const { value, fault } = withFault(() => listTracesQuery.read(query));
  if (value === undefined) {
    const { run_id: runId = "", project_id: projectId = "", project = "" } = query;
    return { runId: runId.trim(), projectId: projectId.trim(), project: project.trim(), queryFault: fault };
  }
  const { from, to, runIds, ...rest } = value;
  const runId = rest.runId.trim();
  return {
    ...rest,
    runId,
    runIds: runId === "" ? [...(runIds ?? [])] : [],
    projectId: rest.projectId.trim(),
    project: rest.project.trim(),
    fromUs: from,
    toUs: to,
  };
}

/** `{"traces": [row, …], "next_cursor": text or null, "limit": n}`, and `sorted_count` where `sort` is another figure than the start. */
export async function encodeListTraces(
  { traces, nextCursor, sortedCount }: ListTracesResponse,
  { limit: rows = TRACES_PAGE_ROWS.default }: MessageInitShape<typeof ListTracesRequestSchema>,
): Promise<RouteReply> {
  const written = await writeListInTurns(traces, listedTraceJson);
  const sorted = sortedCount === undefined ? {} : { sorted_count: sortedCount };
  return { body: { traces: written, next_cursor: textOrNull(nextCursor), limit: rows, ...sorted } };
}

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
  select: queryText({
    enum: [...SPAN_SELECTIONS, ""],
    description:
      "Spans of the whole trace: `orphans`, whose parent has not arrived; `failed`; `slowest`, the spans without children that took longest, the longest first; `path`, the span `parent_span_id` and those above it, from the root on. The last two have no cursor.",
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
