import { REPORTS_PAGE_ROWS } from "@tidemark/limits";
import { callerOf, isUuid, readPage } from "@tidemark/requests";
import type { ReportsDeps, ReportsHandlers } from "../handlers.ts";
import { countReports } from "./report-counts.sql.ts";
import { listReportRows, type ReportSummaryRow } from "./report-list.sql.ts";

type Deps = Pick<ReportsDeps, "db" | "shareTtlSeconds">;

/** ReportsService.ListReports. The list of what cannot be a project, or of one that the caller may not see, is empty. */
export function listReports({ db, shareTtlSeconds }: Deps): ReportsHandlers["listReports"] {
  return async (request, call) => {
    const { orgId, projectId: own } = callerOf(call);
    const wanted = request.project.toLowerCase();
    const isEmpty = wanted !== "" && (!isUuid(wanted) || (own !== undefined && own !== wanted));
    if (isEmpty) return { reports: [], total: 0n };
    const projectId = wanted === "" ? own : wanted;
    const page = readPage(request, REPORTS_PAGE_ROWS);
    return db.readTenant(
      orgId,
      async (tx) => {
        const rows = await listReportRows(tx, orgId, projectId, page, shareTtlSeconds);
        return { reports: rows.map(encodeSummary), total: BigInt(await countReports(tx, orgId, projectId)) };
      },
      { plans: "walks" },
    );
  };
}

function encodeSummary({ description, projectId, authorUserId, ...same }: ReportSummaryRow) {
  return {
    ...same,
    description: description ?? undefined,
    projectId: projectId ?? undefined,
    authorUserId: authorUserId ?? undefined,
  };
}
