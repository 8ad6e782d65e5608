import type { TraceEvent } from "@tidemark/proto/traces/v1/traces";
import { newSpanRecord, writePayload, type SpanRecord } from "@tidemark/span-codec";
import { createSpanTable } from "../fold/span-table.rules.ts";
import { payloadOf, recordOf } from "./event-record.rules.ts";
import { APPENDED, createSegmentsWriter, type EncodedSegment } from "./segments.rules.ts";

/** What a request adds to one trace. */
export type TraceAddition = {
  readonly traceId: string;
  /** One record for each span, with the place where it is. */
  readonly records: readonly { readonly record: SpanRecord; readonly segment: number; readonly place: number }[];
  readonly segments: readonly EncodedSegment[];
};

/** Makes a record of an event. */
type ToRecord = (event: TraceEvent) => SpanRecord;

/** Sorts checked events by trace, ascending, and folds those of one span into one record. */
export function arrangeEvents(events: readonly TraceEvent[], toRecord: ToRecord = recordOf): TraceAddition[] {
  const byTrace = Map.groupBy(events, ({ traceId }) => traceId);
  return [...byTrace.keys()].toSorted().map((traceId) => additionTo(traceId, byTrace.get(traceId)!, toRecord));
}

function additionTo(traceId: string, events: readonly TraceEvent[], toRecord: ToRecord): TraceAddition {
  const writer = createSegmentsWriter(APPENDED);
  const records = foldEvents(events, toRecord).map(({ record, event }) => ({
    record,
    ...writer.add(record, (to) => writePayload(to, payloadOf(event))),
  }));
  return { traceId, records, segments: writer.done() };
}

/** Returns a record for each span, with the event that its payload comes from. */
function foldEvents(events: readonly TraceEvent[], toRecord: ToRecord): { record: SpanRecord; event: TraceEvent }[] {
  const records = events.map((event) => ({ record: toRecord(event), event }));
  if (new Set(events.map(({ spanId }) => spanId)).size === events.length) return records;
  const table = createSpanTable();
  records.forEach(({ record }, i) => table.fold(record, 0, i));
  return Array.from({ length: table.ids.count }, (_, span) => {
    const record = newSpanRecord();
    table.read(span, record);
    return { record, event: events[table.columns.place[span]!]! };
  });
}
