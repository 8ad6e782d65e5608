import { REPORTS_PAGE_ROWS } from "@tidemark/limits";
import type { Tx } from "@tidemark/pg";
import { callerOf, isUuid, readPage } from "@tidemark/requests";
import type { ReportsDeps, ReportsHandlers } from "../deps.ts";
import { findProjectByName } from "./projects.sql.ts";
import { countReports } from "./report-counts.sql.ts";
import { listReportRows, type ReportSummaryRow } from "./report-list.sql.ts";

type Deps = Pick<ReportsDeps, "db" | "shareTtlSeconds">;

/** ReportsService.ListReports. The list of a project that does not exist, or that the caller may not see, is empty. */
export function listReports({ db, shareTtlSeconds }: Deps): ReportsHandlers["listReports"] {
  return async (request, call) => {
    const { orgId, projectId: own } = callerOf(call);
    const page = readPage(request, REPORTS_PAGE_ROWS);
    return db.readTenant(
      orgId,
      async (tx) => {
        const isNamed = request.project !== "";
        const projectId = isNamed ? await findProject(tx, orgId, request.project) : own;
        const isHidden = projectId === undefined || (own !== undefined && own !== projectId);
        if (isNamed && isHidden) return { reports: [], total: 0n };
        const total = BigInt(await countReports(tx, orgId, projectId));
        // Otherwise the walk would look at every report of a deleted project.
        if (total === 0n) return { reports: [], total };
        const rows = await listReportRows(tx, orgId, projectId, page, shareTtlSeconds);
        return { reports: rows.map(encodeSummary), total };
      },
      { plans: "walks" },
    );
  };
}

/** Finds a project by its id, which is not looked up, or else by its name. */
async function findProject(tx: Tx, orgId: string, project: string): Promise<string | undefined> {
  const id = project.toLowerCase();
  return isUuid(id) ? id : findProjectByName(tx, orgId, project);
}

function encodeSummary({ description, projectId, authorUserId, ...same }: ReportSummaryRow) {
  return {
    ...same,
    description: description ?? undefined,
    projectId: projectId ?? undefined,
    authorUserId: authorUserId ?? undefined,
  };
}
