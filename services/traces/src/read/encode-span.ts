import type { MessageInitShape } from "@bufbuild/protobuf";
import type { SpanSchema } from "@tidemark/proto/traces/v1/traces";
import type { SpanPayload, SpanRecord } from "@tidemark/span-codec";
import { spanIdText } from "../fold/span-ids.rules.ts";
import { present } from "./encode-trace.ts";

/** Encodes a record as it is stored: a duration that no client sent is absent, and its children are not counted. */
export function encodeSpan(record: SpanRecord, payload: SpanPayload): MessageInitShape<typeof SpanSchema> {
  const hasParent = record.parentHigh !== 0 || record.parentLow !== 0;
  return {
    ...payload,
    spanId: spanIdText(record.idHigh, record.idLow),
    parentSpanId: hasParent ? spanIdText(record.parentHigh, record.parentLow) : "",
    name: record.name,
    kind: record.kind,
    status: record.status,
    startedUs: record.startUs,
    endedUs: present(record.endUs),
    durationMs: present(record.durationMs),
    step: present(record.step),
    rank: present(record.rank),
    threadId: record.threadId,
    rolloutId: record.rolloutId,
    previews: record.hasPreviews,
    redactionState: record.redaction,
    truncated: record.isTruncated,
  };
}
