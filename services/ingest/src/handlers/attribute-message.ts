import type { MessageInitShape } from "@bufbuild/protobuf";
import type { AttributeSchema } from "@tidemark/proto/ingest/v1/ingest";
import type { AttributeRecord } from "../store/list-attributes.ts";

const encoder = new TextEncoder();

/** A stored attribute as the message that answers carry. */
export function attributeMessage(
  orgId: string,
  runId: string,
  record: AttributeRecord,
): MessageInitShape<typeof AttributeSchema> {
  return {
    id: record.id,
    orgId,
    runId,
    path: record.path,
    type: record.type,
    ...(record.step === null ? {} : { step: record.step }),
    loggedAt: record.loggedAt,
    valueJson: encoder.encode(record.valueJson),
    summaryJson: encoder.encode(record.summaryJson),
    createdAt: record.createdAt,
  };
}
