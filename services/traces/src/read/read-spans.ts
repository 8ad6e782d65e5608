import type { MessageInitShape } from "@bufbuild/protobuf";
import { AppError, badRequest, notFound } from "@tidemark/errors";
import { jsonBytes, PAGE_BYTES_MAX } from "@tidemark/limits";
import type { SpanSchema } from "@tidemark/proto/traces/v1/traces";
import { newSpanRecord, type SpanPayload, type SpanRecord } from "@tidemark/codecs/spans";
import { mapInTurns } from "@tidemark/work";
import type { TracesDeps } from "../deps.ts";
import type { PayloadPlace } from "../fold/span-table.rules.ts";
import { summarize, type TraceSummary } from "../fold/summary.rules.ts";
import type { TraceFold } from "../fold/totals.rules.ts";
import { catchUp } from "../state/load-segments.sql.ts";
import type { TraceKey } from "../state/trace-state.rules.ts";
import { chooseSpans, countSpans, writeSpanCursor, type SpanPosition, type WantedSpans } from "./choose-spans.rules.ts";
import { encodeSpan, unlessNaN } from "./encode-trace.ts";
import { readPayloads } from "./payloads.sql.ts";

/** The part of a request that selects spans of a trace. */
export type SpansAsked = {
  readonly key: TraceKey;
  /** Decides from the trace which spans are wanted. */
  readonly wanted: (fold: TraceFold) => WantedSpans;
  readonly after: SpanPosition | undefined;
  readonly limit: number;
};

/** A page of spans, and the trace as it was at that moment. */
export type SpansRead = {
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
  readonly rows: readonly { readonly record: SpanRecord; readonly place: PayloadPlace; readonly childCount: number }[];
};

/** A trace is compacted at most once in a while, so that a second attempt finds the segments that the first one missed. */
const ATTEMPTS_MAX = 5;

/** Returns an id of a trace in lower case. @throws bad_request */
export function requireTraceId(text: string): string {
  const id = text.toLowerCase();
  if (/^(?!0{32})[0-9a-f]{32}$/.test(id)) return id;
  throw badRequest("trace_id must be 32 hexadecimal digits that are not all 0", "trace_id");
}

/**
 * Reads a page of spans: the tree from memory, brought up to date, and the payloads of the page from their segments. A page ends early before its
 * payloads, as JSON, exceed 16 MiB.
 * @throws not_found when there is no such trace
 */
export async function readSpans(deps: Pick<TracesDeps, "db" | "states">, asked: SpansAsked): Promise<SpansRead> {
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
      const nextCursor = isCut ? writeSpanCursor(page.rows[length - 1]!.record) : page.nextCursor;
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

function choosePage(fold: TraceFold, { wanted, after, limit }: SpansAsked, updatedUs: number): Page {
  const { table } = fold;
  const spansWanted = wanted(fold);
  // One more shows whether there is a next page.
  const chosen = chooseSpans(fold, spansWanted, after, limit + 1);
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
    nextCursor: last === undefined || length === chosen.length ? "" : writeSpanCursor(last),
    count: countSpans(fold, spansWanted),
    summary: summarize(fold),
    updatedUs,
  };
}

const MS_US = 1000;

/** Returns the duration that was sent, else the time from start to end; never negative, even if clocks disagree. */
function durationOf({ durationMs, startUs, endUs }: SpanRecord): number {
  return Number.isNaN(durationMs) ? Math.max(0, endUs - startUs) / MS_US : durationMs;
}
