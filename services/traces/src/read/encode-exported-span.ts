import type { MessageInitShape } from "@bufbuild/protobuf";
import type { ExportedSpanSchema } from "@tidemark/proto/traces/v1/archive";
import type { SpanPayload, SpanRecord } from "@tidemark/span-codec";
import { encodeSpan } from "./encode-span.ts";

/** Encodes a record as it is stored, with the sequences of its parts. */
export function encodeExportedSpan(
  record: SpanRecord,
  payload: SpanPayload,
): MessageInitShape<typeof ExportedSpanSchema> {
  const { seq } = record;
  const hasParent = record.parentHigh !== 0 || record.parentLow !== 0;
  const other = (named: number, isThere: boolean): number | undefined => (isThere && named !== seq ? named : undefined);
  return {
    span: encodeSpan(record, payload),
    sequence: seq,
    parentSequence: other(record.parentSeq, hasParent),
    endedSequence: other(record.endSeq, !Number.isNaN(record.endUs)),
    durationSequence: other(record.durationSeq, !Number.isNaN(record.durationMs)),
    stepSequence: other(record.stepSeq, !Number.isNaN(record.step)),
    rankSequence: other(record.rankSeq, !Number.isNaN(record.rank)),
  };
}
