import { badRequest } from "@tidemark/errors";
import { admitChange } from "@tidemark/plan-limits";
import type { UpdateReportRequest } from "@tidemark/proto/reports/v1/reports";
import { callerOf, pathId, throwFault } from "@tidemark/requests";
import { textBytes } from "../fields/stored-bytes.rules.ts";
import { requireText, textOrNull } from "../fields/text.rules.ts";
import type { ReportsDeps, ReportsHandlers } from "../deps.ts";
import { encodeReport } from "./encode-report.ts";
import { readBlocks, requireVisibility } from "./report-input.rules.ts";
import { changeReport, findReport, type ReportChange } from "./reports.sql.ts";
import { lockForChange, REPORT } from "./require-report.ts";

/** ReportsService.UpdateReport. @throws not_found, bad_request, plan_limit_exceeded */
export function updateReport({
  db,
  storageGate,
}: Pick<ReportsDeps, "db" | "storageGate">): ReportsHandlers["updateReport"] {
  return (request, call) => {
    const caller = callerOf(call);
    const { orgId } = caller;
    const id = pathId(request.reportId, REPORT);
    return db.withTenant(orgId, async (tx) => {
      await lockForChange(tx, caller, id);
      throwFault(request.bodyFault);
      const change = readChange(request);
      const bytes = textBytes(change.title, change.description, change.stored?.blocks);
      await admitChange(storageGate, caller, bytes, async () => {
        const before = (await findReport(tx, orgId, id))!;
        return textBytes(
          change.title === undefined ? "" : before.title,
          change.description === undefined ? "" : before.description,
          change.stored === undefined ? "" : before.blocks,
        );
      });
      await changeReport(tx, orgId, id, change);
      return { report: encodeReport((await findReport(tx, orgId, id))!) };
    });
  };
}

function readChange({ title, description, visibility, blocksJson }: UpdateReportRequest): ReportChange {
  if ([title, description, visibility, blocksJson].every((part) => part === undefined)) {
    throw badRequest("one of title, description, visibility and blocks is required");
  }
  return {
    title: title === undefined ? undefined : requireText(title, "title"),
    description: description === undefined ? undefined : textOrNull(description, "description"),
    visibility: visibility === undefined ? undefined : requireVisibility(visibility),
    stored: blocksJson === undefined ? undefined : readBlocks(blocksJson),
  };
}
