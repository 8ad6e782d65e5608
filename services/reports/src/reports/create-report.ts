import { REPORT_VISIBILITIES } from "@tidemark/limits";
import { callerOf } from "@tidemark/requests";
import { enterProject } from "../deletion/deleted-projects.sql.ts";
import { requireText, textOrNull } from "../fields/text.rules.ts";
import type { ReportsDeps, ReportsHandlers } from "../deps.ts";
import { chooseProject } from "./choose-project.ts";
import { textBytes } from "../fields/stored-bytes.rules.ts";
import { encodeReport } from "./encode-report.ts";
import { countReport } from "./report-counts.sql.ts";
import { readBlocks, requireVisibility } from "./report-input.rules.ts";
import { findReport, insertReport } from "./reports.sql.ts";

/** ReportsService.CreateReport. @throws bad_request, forbidden, plan_limit_exceeded, not_found for a deleted project */
export function createReport({
  db,
  storageGate,
  newId,
}: Pick<ReportsDeps, "db" | "storageGate" | "newId">): ReportsHandlers["createReport"] {
  return async (request, call) => {
    const caller = callerOf(call);
    const { orgId } = caller;
    const stored = readBlocks(request.blocksJson);
    const report = {
      id: newId(),
      title: requireText(request.title, "title"),
      description: textOrNull(request.description, "description"),
      visibility: requireVisibility(request.visibility || REPORT_VISIBILITIES[0]),
      projectId: chooseProject(caller, request.projectId),
      authorUserId: call.identity?.userId || null,
    };
    await storageGate.admit(caller, textBytes(report.title, report.description, stored.blocks));
    return db.withTenant(orgId, async (tx) => {
      await enterProject(tx, orgId, report.projectId);
      await insertReport(tx, orgId, report, stored);
      await countReport(tx, orgId, report.projectId, 1);
      const row = await findReport(tx, orgId, report.id);
      return { report: encodeReport(row!) };
    });
  };
}
