import { REPORT_VISIBILITIES, SHARE_EXTENTS } from "@tidemark/limits";
import type { Report, ReportSummary } from "@tidemark/proto/reports/v1/reports";
import { raw, type Json } from "../../http/json.ts";
import {
  booleanSchema,
  countSchema,
  listSchema,
  objectSchema,
  textOrNullSchema,
  textSchema,
  timeOrNullSchema,
  timeSchema,
  uuidOrNullSchema,
  uuidSchema,
} from "../replies.ts";

const utf8 = new TextDecoder();
const visibilitySchema = { type: "string", enum: REPORT_VISIBILITIES };

/** Members of a report that only readers of its organization see. */
const MEMBERS_ONLY = ["org_id", "author_user_id", "share_token"];

/** Members that a report with a share token has, for its organization and the holders of the token. */
const SHARED_ONLY = ["share_extent", "share_frozen"];

/** A report. */
export const reportSchema = objectSchema(
  {
    schema_version: { const: 1 },
    id: uuidSchema,
    org_id: uuidSchema,
    project_id: uuidOrNullSchema,
    title: textSchema,
    description: textOrNullSchema,
    blocks: listSchema(objectSchema({ kind: textSchema })),
    created_at: timeSchema,
    updated_at: timeSchema,
    author_user_id: uuidOrNullSchema,
    share_token: { ...textOrNullSchema, description: "Only in the answer that made it." },
    share_token_issued_at: timeOrNullSchema,
    share_extent: {
      type: "string",
      enum: SHARE_EXTENTS,
      description: "What the share token opens, where there is one.",
    },
    share_frozen: { ...booleanSchema, description: "The data are those of the time when it was shared." },
    visibility: visibilitySchema,
    deleted_at: timeOrNullSchema,
  },
  [...MEMBERS_ONLY, ...SHARED_ONLY],
);

/** Returns a report as readers of its organization see it, or as everyone else does: without its owners. */
export function reportJson(report: Report): Json {
  const isMember = report.orgId !== "";
  return {
    schema_version: 1,
    id: report.id,
    org_id: isMember ? report.orgId : undefined,
    project_id: report.projectId ?? null,
    title: report.title,
    description: report.description ?? null,
    blocks: raw(utf8.decode(report.blocksJson)),
    created_at: report.createdAt,
    updated_at: report.updatedAt,
    author_user_id: isMember ? (report.authorUserId ?? null) : undefined,
    share_token: isMember ? (report.shareToken ?? null) : undefined,
    share_token_issued_at: report.shareTokenIssuedAt ?? null,
    share_extent: report.shareExtent,
    share_frozen: report.shareExtent === undefined ? undefined : report.shareFrozen,
    visibility: report.visibility,
    deleted_at: report.deletedAt ?? null,
  };
}

/** A report of a list. */
export const reportSummarySchema = objectSchema({
  id: uuidSchema,
  title: textSchema,
  description: textOrNullSchema,
  project_id: uuidOrNullSchema,
  visibility: visibilitySchema,
  has_share_token: booleanSchema,
  author_user_id: uuidOrNullSchema,
  created_at: timeSchema,
  updated_at: timeSchema,
  block_count: countSchema,
});

/** Returns a report of a list. */
export function reportSummaryJson(report: ReportSummary): Json {
  return {
    id: report.id,
    title: report.title,
    description: report.description ?? null,
    project_id: report.projectId ?? null,
    visibility: report.visibility,
    has_share_token: report.hasShareToken,
    author_user_id: report.authorUserId ?? null,
    created_at: report.createdAt,
    updated_at: report.updatedAt,
    block_count: report.blockCount,
  };
}
