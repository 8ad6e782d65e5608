import type { MessageInitShape } from "@bufbuild/protobuf";
import type { ReportSchema } from "@tidemark/proto/reports/v1/reports";
import type { ReportRow } from "./reports.sql.ts";

type ReportMessage = MessageInitShape<typeof ReportSchema>;

const utf8 = new TextEncoder();

/** Encodes a report for readers of its organization. The token is present only if it was just created: it is not stored. */
export function encodeReport(row: ReportRow, shareToken?: string): ReportMessage {
  const { projectId, description, authorUserId, shareIssuedAt, deletedAt, blocks, shareId: _shareId, ...same } = row;
  return {
    ...same,
    projectId: projectId ?? undefined,
    description: description ?? undefined,
    authorUserId: authorUserId ?? undefined,
    shareToken,
    shareTokenIssuedAt: shareIssuedAt ?? undefined,
    deletedAt: deletedAt ?? undefined,
    blocksJson: utf8.encode(blocks),
  };
}

/** Encodes a report for all other readers, without its owner. */
export function encodeForOutsiders(row: ReportRow): ReportMessage {
  return { ...encodeReport(row), orgId: "", authorUserId: undefined };
}
