import type { TraceEvent } from "@tidemark/proto/traces/v1/traces";
import { newSpanRecord, writePayload, type SpanRecord } from "@tidemark/codecs/spans";
import { createSpanTable } from "../fold/span-table.rules.ts";
import { payloadOf, recordOf } from "./event-record.rules.ts";
import { APPENDED, createSegmentsWriter, type EncodedSegment } from "./segments.rules.ts";

/** The records that a request adds to one trace. */
export type TraceAddition = {
  readonly traceId: string;
  /** One record for each span, with the place where it is. */
  readonly records: readonly { readonly record: SpanRecord; readonly segment: number; readonly place: number }[];
  readonly segments: readonly EncodedSegment[];
};

/** Makes a record of an event. */
type ToRecord = (event: TraceEvent) => SpanRecord;

/** Sorts checked events by trace, ascending, and folds the events of one span into one record; pauses where other work may run. */
export function* arrangeSteps(
  events: readonly TraceEvent[],
  toRecord: ToRecord = recordOf,
): Generator<void, TraceAddition[]> {
  const byTrace = Map.groupBy(events, ({ traceId }) => traceId);
  const additions: TraceAddition[] = [];
  for (const traceId of [...byTrace.keys()].toSorted()) {
    const writer = createSegmentsWriter(APPENDED);
    const records: TraceAddition["records"][number][] = [];
    for (const { record, event } of yield* foldSteps(byTrace.get(traceId)!, toRecord)) {
      records.push({ record, ...writer.add(record, (to) => writePayload(to, payloadOf(event))) });
      yield;
    }
    additions.push({ traceId, records, segments: writer.done() });
    yield;
  }
  return additions;
}

type FoldedEvent = { record: SpanRecord; event: TraceEvent };

/** Returns a record for each span, with the event that its payload comes from. */
function* foldSteps(events: readonly TraceEvent[], toRecord: ToRecord): Generator<void, FoldedEvent[]> {
  const records: FoldedEvent[] = [];
  for (const event of events) {
    records.push({ record: toRecord(event), event });
    yield;
  }
  if (new Set(events.map(({ spanId }) => spanId)).size === events.length) return records;
  const table = createSpanTable();
  records.forEach(({ record }, i) => table.fold(record, 0, i));
  return Array.from({ length: table.ids.count }, (_, span) => {
    const record = newSpanRecord();
    table.read(span, record);
    return { record, event: events[table.columns.place[span]!]! };
  });
}
