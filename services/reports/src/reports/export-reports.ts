import { notFound } from "@tidemark/errors";
import type { ReportsArchiveService } from "@tidemark/proto/reports/v1/archive";
import { callerOf, canSee, isUuid } from "@tidemark/requests";
import type { Handlers } from "@tidemark/rpc";
import type { ReportsDeps } from "../deps.ts";
import { encodeReport } from "./encode-report.ts";
import { readReportsOfProject } from "./exported-reports.sql.ts";

/** ReportsArchiveService.ExportReports. @throws not_found */
export function exportReports({
  db,
}: Pick<ReportsDeps, "db">): Handlers<(typeof ReportsArchiveService)["method"]>["exportReports"] {
  return async function* ({ projectId }, call) {
    const caller = callerOf(call);
    const { orgId } = caller;
    if (!isUuid(projectId) || !canSee(caller, { orgId, projectId })) throw notFound("project");
    yield* db.streamTenant(
      orgId,
      async function* (tx) {
        for await (const row of readReportsOfProject(tx, orgId, projectId)) yield { report: encodeReport(row) };
      },
      { plans: "walks" },
    );
  };
}
