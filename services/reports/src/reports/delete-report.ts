import { callerOf, pathId } from "@tidemark/requests";
import type { ReportsDeps, ReportsHandlers } from "../deps.ts";
import { encodeReport } from "./encode-report.ts";
import { countReport } from "./report-counts.sql.ts";
import { findReport, markDeleted } from "./reports.sql.ts";
import { lockForChange, REPORT } from "./require-report.ts";

/** ReportsService.DeleteReport: its share token is invalid from then on. @throws not_found, also for a repeat */
export function deleteReport({ db }: Pick<ReportsDeps, "db">): ReportsHandlers["deleteReport"] {
  return (request, call) => {
    const caller = callerOf(call);
    const { orgId } = caller;
    const id = pathId(request.reportId, REPORT);
    return db.withTenant(orgId, async (tx) => {
      const { projectId } = await lockForChange(tx, caller, id);
      const row = (await findReport(tx, orgId, id))!;
      const deletedAt = await markDeleted(tx, orgId, id);
      await countReport(tx, orgId, projectId, -1);
      return { report: encodeReport({ ...row, deletedAt }) };
    });
  };
}
