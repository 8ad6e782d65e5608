import type { MessageInitShape } from "@bufbuild/protobuf";
import type { ViewSchema, ViewSummarySchema } from "@tidemark/proto/reports/v1/views";
import type { ViewRow, ViewSummaryRow } from "./views.sql.ts";

const utf8 = new TextEncoder();

/** Encodes a view with its payload, as a user reads it. */
export function encodeView(
  { project, payload, ...same }: ViewRow,
  userId: string,
): MessageInitShape<typeof ViewSchema> {
  const isOwner = same.ownerUserId === userId;
  return { ...same, project: project ?? undefined, payloadJson: utf8.encode(payload), isOwner };
}

/** Encodes a view of a list, as a user reads it. */
export function encodeSummary(
  { project, ...same }: ViewSummaryRow,
  userId: string,
): MessageInitShape<typeof ViewSummarySchema> {
  return { ...same, project: project ?? undefined, isOwner: same.ownerUserId === userId };
}
