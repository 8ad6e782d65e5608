import { SPAN_SELECTIONS, SPANS_PAGE_ROWS, TRACE_ROOTS, jsonBytes, PAGE_BYTES_MAX } from "@tidemark/limits";
import { callerOf, pathId, requireLimit, throwFault } from "@tidemark/requests";
import { badRequest, AppError, notFound } from "@tidemark/errors";
import type { TracesDeps, TracesHandlers } from "../deps.ts";
import { findRunLabels } from "../runs/runs.sql.ts";
import {
  readSpanCursor,
  rootsOf,
  type WantedSpans,
  chooseSpans,
  countSpans,
  writeSpanCursor,
  type SpanPosition,
} from "./choose-spans.rules.ts";
import { pathTo, slowestSpans } from "./selected-spans.rules.ts";
import { encodeTrace, encodeSpan, unlessNaN } from "./encode-trace.ts";
import type { MessageInitShape } from "@bufbuild/protobuf";
import type { SpanSchema } from "@tidemark/proto/traces/v1/traces";
import { newSpanRecord, type SpanPayload, type SpanRecord } from "@tidemark/codecs/spans";
import { mapInTurns } from "@tidemark/work";
import type { PayloadPlace } from "../fold/span-table.rules.ts";
import { summarize, type TraceSummary } from "../fold/summary.rules.ts";
import type { TraceFold } from "../fold/totals.rules.ts";
import { catchUp, readPayloads } from "../state/segments.sql.ts";
import type { TraceKey } from "../state/trace-state.rules.ts";

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
    const selection = readSelection(request.select, parent);
    const limit = requireLimit(request.limit, SPANS_PAGE_ROWS.max);
    const after = readSpanCursor(request.cursor);
    const read = await readSpans(deps, {
      key: { orgId, runId, traceId },
      wanted: (fold) => selection ?? parent ?? rootsOf(fold),
      after,
      limit,
    });
    return { spans: read.spans, nextCursor: read.nextCursor, childCount: read.count };
  };
}

type ParentId = Extract<WantedSpans, object>;
/** What a client may select instead of children. */
type Selection = "orphans" | "failed" | "slowest" | { readonly pathTo: ParentId };
type Wanted = WantedSpans | Selection;

/** @throws bad_request */
function readParent(text: string): ParentId | undefined {
  if (text === "") return undefined;
  if (!/^(?!0{16})[0-9a-fA-F]{16}$/.test(text)) {
    throw badRequest("parent_span_id must be 16 hexadecimal digits that are not all 0", "parent_span_id");
  }
  return { parentHigh: Number.parseInt(text.slice(0, 8), 16), parentLow: Number.parseInt(text.slice(8), 16) };
}

/** @throws bad_request */
function readSelection(text: string, parent: ParentId | undefined): Selection | undefined {
  const found = SPAN_SELECTIONS.find((one) => one === text);
  if (text !== "" && found === undefined)
    throw badRequest(`select must be one of ${SPAN_SELECTIONS.join(", ")}`, "select");
  if (found !== "path") return found;
  if (parent === undefined) throw badRequest("parent_span_id is required for a path", "parent_span_id");
  return { pathTo: parent };
}

/** The part of a request that selects spans of a trace. */
type SpansAsked = {
  readonly key: TraceKey;
  /** Decides from the trace which spans are wanted. */
  readonly wanted: (fold: TraceFold) => Wanted;
  readonly after: SpanPosition | undefined;
  readonly limit: number;
};

/** A page of spans, and the trace as it was at that moment. */
type SpansRead = {
  readonly spans: MessageInitShape<typeof SpanSchema>[];
  /** Empty: there are no more. */
  readonly nextCursor: string;
  /** All wanted spans. */
  readonly count: number;
  readonly summary: TraceSummary;
  readonly updatedUs: number;
};

/** The parts of a page that are read from memory. */
type Page = Omit<SpansRead, "spans"> & {
  readonly isPaged: boolean;
  readonly rows: readonly { readonly record: SpanRecord; readonly place: PayloadPlace; readonly childCount: number }[];
};

/** A trace is compacted at most once in a while, so that a second attempt finds the segments that the first one missed. */
const ATTEMPTS_MAX = 5;

/** Returns an id of a trace in lower case. @throws bad_request */
function requireTraceId(text: string): string {
  const id = text.toLowerCase();
  if (/^(?!0{32})[0-9a-f]{32}$/.test(id)) return id;
  throw badRequest("trace_id must be 32 hexadecimal digits that are not all 0", "trace_id");
}

/**
 * Reads a page of spans: the tree from memory, brought up to date, and the payloads of the page from their segments. A page ends early before its
 * payloads, as JSON, exceed 16 MiB.
 * @throws not_found when there is no such trace
 */
async function readSpans(deps: Pick<TracesDeps, "db" | "states">, asked: SpansAsked): Promise<SpansRead> {
  const { db, states } = deps;
  const { key } = asked;
  for (let attempt = 1; ; attempt++) {
    const page = await states.use([key], async ([state]) => {
      const isThere = await db.readTenant(key.orgId, (tx) => catchUp(tx, key, state!));
      if (!isThere) throw notFound("trace");
      return choosePage(state!.fold, asked, state!.updatedUs);
    });
    const places = page.rows.map(({ place }) => place);
    const payloads = places.length === 0 ? [] : await db.readTenant(key.orgId, (tx) => readPayloads(tx, key, places));
    if (payloads !== undefined) {
      const weights = await mapInTurns(page.rows, ({ record }, i) => sentBytesOf(record, payloads[i]!));
      const spans = page.rows.map(({ record, childCount }, i) => ({
        ...encodeSpan(record, payloads[i]!),
        durationMs: unlessNaN(durationOf(record)),
        childCount,
      }));
      const { count, summary, updatedUs } = page;
      const length = countFitting(weights);
      const isCut = length < spans.length;
      const nextCursor = isCut && page.isPaged ? writeSpanCursor(page.rows[length - 1]!.record) : page.nextCursor;
      return { spans: isCut ? spans.slice(0, length) : spans, nextCursor, count, summary, updatedUs };
    }
    if (attempt === ATTEMPTS_MAX) {
      throw new AppError("service_unavailable", "the trace changes while it is read; try again", {
        retryAfterSeconds: 1,
      });
    }
  }
}

/** Returns how many spans fit a page by the bytes of their JSON; the stored weights do not include control characters. At least one. */
function countFitting(weights: readonly number[]): number {
  let bytes = 0;
  const heavy = weights.findIndex((weight) => (bytes += weight) > PAGE_BYTES_MAX);
  return heavy === -1 ? weights.length : Math.max(heavy, 1);
}

/** Bytes of a span in a response without the fields whose size its client chose. */
const SPAN_BYTES = 1024;

function sentBytesOf({ name, threadId, rolloutId }: SpanRecord, payload: SpanPayload): number {
  const { attributesJson, metricsJson, linksJson, errorType, inputPreview, outputPreview, errorPreview } = payload;
  const texts = [name, threadId, rolloutId, errorType, inputPreview, outputPreview, errorPreview];
  const documents = attributesJson.length + metricsJson.length + linksJson.length;
  return texts.reduce((sum, text) => sum + jsonBytes(text), SPAN_BYTES + documents);
}

const isPaged = (wanted: Wanted): wanted is WantedSpans =>
  typeof wanted === "string" ? wanted !== "slowest" : !("pathTo" in wanted);

function choose(fold: TraceFold, wanted: Wanted, after: SpanPosition | undefined, limit: number): number[] {
  // One more shows whether there is a next page.
  if (isPaged(wanted)) return chooseSpans(fold, wanted, after, limit + 1);
  if (wanted === "slowest") return slowestSpans(fold, limit);
  return pathTo(fold, wanted.pathTo.parentHigh, wanted.pathTo.parentLow, limit);
}

function choosePage(fold: TraceFold, { wanted, after, limit }: SpansAsked, updatedUs: number): Page {
  const { table } = fold;
  const spansWanted = wanted(fold);
  const chosen = choose(fold, spansWanted, after, limit);
  let bytes = 0;
  const heavy = chosen.findIndex((span) => (bytes += table.columns.payloadBytes[span]!) > PAGE_BYTES_MAX);
  const length = Math.min(limit, heavy === -1 ? chosen.length : Math.max(heavy, 1));
  const rows = chosen.slice(0, length).map((span) => {
    const record = newSpanRecord();
    table.read(span, record);
    const { segment, place } = table.columns;
    return { record, place: { segment: segment[span]!, place: place[span]! }, childCount: fold.childCount(span) };
  });
  const last = rows.at(-1)?.record;
  return {
    rows,
    isPaged: isPaged(spansWanted),
    nextCursor: last === undefined || length === chosen.length || !isPaged(spansWanted) ? "" : writeSpanCursor(last),
    count: isPaged(spansWanted) ? countSpans(fold, spansWanted) : chosen.length,
    summary: summarize(fold),
    updatedUs,
  };
}

const MS_US = 1000;

/** Returns the duration that was sent, else the time from start to end; never negative, even if clocks disagree. */
function durationOf({ durationMs, startUs, endUs }: SpanRecord): number {
  return Number.isNaN(durationMs) ? Math.max(0, endUs - startUs) / MS_US : durationMs;
}
