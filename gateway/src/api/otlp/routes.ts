import type { MessageInitShape } from "@bufbuild/protobuf";
import { isAppError, type Reason } from "@tidemark/errors";
import type { ExportAnswer } from "@tidemark/otlp";
import { spansInCycles } from "@tidemark/codecs/spans";
import { createPauses } from "@tidemark/work";
import type { TraceEventSchema } from "@tidemark/proto/traces/v1/traces";
import type { Call } from "@tidemark/rpc";
import { TRACE_LIMITS } from "@tidemark/limits";
import type { Clients } from "../../clients.ts";
import { headerNames } from "../../http/headers.ts";
import type { HandlerContext, Route, RouteInput, RouteReply, Schema } from "../../route.ts";
import { canonicalUuid } from "../fields/text.ts";
import { ingestCallers } from "../callers.ts";
import { objectSchema } from "../replies.ts";
import { encodeAnswer, otlpProtocol, type OtlpBody } from "./protocol.ts";
import { eventOf } from "./span-event.ts";

type Event = MessageInitShape<typeof TraceEventSchema>;

/** Runs that are written at the same time. */
const AT_ONCE = 4;

/** Reasons that concern the spans of one run, not the whole request. */
const ofTheRun: ReadonlySet<Reason> = new Set<Reason>(["not_found", "forbidden", "bad_request"]);

/**
 * POST /v1/traces: stores the spans of each run. Spans without a run, of a run that the caller cannot write to, those that are malformed, and those that
 * are among their own ancestors are counted as rejected; the others are stored. An error that concerns all of them is thrown.
 */
async function handleExportSpans(
  { body }: RouteInput,
  clients: Clients,
  call: Call,
  { request }: Pick<HandlerContext, "request">,
): Promise<RouteReply> {
  const { resources, mediaType } = body as unknown as OtlpBody;
  const rejections = createRejections();
  const byRun = new Map<string, Event[]>();
  const pauseIfLong = createPauses();
  for (const { resource, spans } of resources) {
    const named = resource.get("tidemark.run_id")?.text ?? request.headers[headerNames.runId];
    const runId = typeof named === "string" ? canonicalUuid(named.trim()) : undefined;
    if (runId === undefined) {
      rejections.add(
        spans.length,
        "a span needs a run: tidemark.run_id of its resource, or the header x-tidemark-run-id",
      );
      continue;
    }
    const events = byRun.get(runId) ?? [];
    byRun.set(runId, events);
    for (const span of spans) {
      const event = eventOf(span, resource);
      if ("rejected" in event) rejections.add(1, event.rejected);
      else events.push(event);
      const pause = pauseIfLong();
      if (pause !== undefined) await pause;
    }
  }
  const waiting = [...byRun].filter(([, events]) => events.length > 0);
  const heartbeatRunIds: string[] = [];
  const store = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const [runId, events] = next;
      const { kept, cyclic } = apartFromCycles(newestOfEach(events));
      rejections.add(cyclic, `run ${runId}: the parents of some spans form a cycle`);
      if (kept.length === 0) continue;
      try {
        await clients.traces.appendTraceEvents({ runId, events: kept }, call);
        heartbeatRunIds.push(runId);
      } catch (error) {
        if (!isAppError(error) || !ofTheRun.has(error.reason)) throw error;
        rejections.add(events.length - cyclic, `run ${runId}: ${error.message}`);
      }
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, store));
  return { ...encodeAnswer(rejections.answer(), { mediaType }), heartbeatRunIds };
}

/** If a request contains a span twice, only the state that ended last counts; for equal ends, the last one. */
function newestOfEach(events: readonly Event[]): Event[] {
  const newest = new Map<string, Event>();
  for (const event of events) {
    const id = `${event.traceId}${event.spanId}`;
    if ((newest.get(id)?.sequence ?? -1) <= event.sequence!) newest.set(id, event);
  }
  return [...newest.values()];
}

/** Leaves out the spans that are among their own ancestors, and counts them. Their descendants stay: their parent may arrive later. */
function apartFromCycles(events: readonly Event[]): { readonly kept: Event[]; readonly cyclic: number } {
  const idOf = ({ traceId, spanId }: Event): string => `${traceId}${spanId}`;
  const withParents = events.filter(({ parentSpanId }) => parentSpanId !== "");
  const inCycles = spansInCycles(new Map(withParents.map((event) => [idOf(event), event.parentSpanId!])));
  const kept = events.filter((event) => !inCycles.has(idOf(event)));
  return { kept, cyclic: events.length - kept.length };
}

/** Counts spans that were rejected, and keeps the reasons. */
function createRejections(): { add(spans: number, reason: string): void; answer(): ExportAnswer } {
  const reasons = new Set<string>();
  let rejectedSpans = 0;
  return {
    add(spans, reason) {
      if (spans === 0) return;
      rejectedSpans += spans;
      if (reasons.size < 5) reasons.add(reason);
    },
    answer: () => ({ rejectedSpans, message: [...reasons].join("; ") }),
  };
}

/** Most bytes of a decoded request. */
const OTLP_BYTES_MAX = 4 * 1024 * 1024;

const anything: Schema = { type: "object" };
/** In OTLP/JSON, null is the same as absent. */
const anythingOrNull: Schema = { type: ["object", "null"] };
const listOf = (items: Schema): Schema => ({ type: ["array", "null"], items });

/** The outer fields of an `ExportTraceServiceRequest` in JSON; those of spans are OpenTelemetry's. */
const body: Schema = objectSchema(
  {
    resourceSpans: listOf(
      objectSchema(
        { resource: anythingOrNull, scopeSpans: listOf(objectSchema({ spans: listOf(anything) }, ["spans"])) },
        ["resource", "scopeSpans"],
      ),
    ),
  },
  ["resourceSpans"],
);

/** Spans of OpenTelemetry. */
export const otlpRoutes: readonly Route[] = [
  {
    method: "POST",
    path: "/v1/traces",
    tag: "traces",
    summary: "Log spans of OpenTelemetry (OTLP/HTTP)",
    description: `An \`ExportTraceServiceRequest\` in protobuf or JSON with at most ${TRACE_LIMITS.exportedSpansMax} spans, as any exporter of OpenTelemetry sends it. The resource attribute \`tidemark.run_id\`, or the header \`x-tidemark-run-id\`, names the run. Spans that cannot be stored are counted in \`partialSuccess\`. A span that is sent again changes nothing.`,
    callers: ingestCallers,
    rate: "ingest",
    idempotency: "none",
    body: "required",
    protocol: otlpProtocol,
    bodyBytesMax: OTLP_BYTES_MAX,
    schemas: {
      body,
      response: objectSchema(
        {
          partialSuccess: objectSchema({
            rejectedSpans: { type: "string", description: "How many spans were not stored." },
            errorMessage: { type: "string", description: "Why." },
          }),
        },
        ["partialSuccess"],
      ),
    },
    statuses: [200, 400, 401, 402, 403],
    handle: handleExportSpans,
  },
];
