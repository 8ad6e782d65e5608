import { badRequest, notFound } from "@tidemark/errors";
import type { ReportsArchiveService } from "@tidemark/proto/reports/v1/archive";
import { callerOf, canSee, isUuid, pathId, requireRows } from "@tidemark/requests";
import type { Handlers } from "@tidemark/rpc";
import type { ReportsRestoreService } from "@tidemark/proto/reports/v1/restore";
import type { ReportsDeps } from "../deps.ts";
import { seeDeleted } from "../deletion/deleted-projects.sql.ts";
import { requireText, textOrNull } from "../fields/text.rules.ts";
import { encodeReport } from "./get-report.ts";
import { findTakenIds, hasIds, insertRestoredReport, readReportsOfProject } from "./archived-reports.sql.ts";
import { countReport } from "./report-list.sql.ts";
import { readBlocks, requireVisibility } from "./report.rules.ts";

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

type ReportHandlers = Pick<Handlers<(typeof ReportsRestoreService)["method"]>, "findTakenReports" | "restoreReports">;

/** Returns the RPCs of ReportsRestoreService for reports, and for taken ids of all rows. @throws see restore.proto */
export function restoreReportsHandlers({ db }: Pick<ReportsDeps, "db">): ReportHandlers {
  return {
    async findTakenReports({ type, ids }, call) {
      const { orgId } = callerOf(call);
      if (!hasIds(type)) throw badRequest("the type is unknown", "type");
      requireRows(ids);
      if (!ids.every(isUuid)) throw badRequest("ids must be canonical UUIDs", "ids");
      const taken = await db.readTenant(orgId, async (tx) => {
        await seeDeleted(tx);
        return findTakenIds(tx, orgId, type, ids);
      });
      return { ids: taken };
    },

    async restoreReports({ reports }, call) {
      const caller = callerOf(call);
      const { orgId } = caller;
      requireRows(reports);
      const rows = reports.map((report) => {
        const projectId = pathId(report.projectId ?? "", "project");
        if (!canSee(caller, { orgId, projectId })) throw notFound("project");
        return {
          stored: readBlocks(report.blocksJson),
          id: report.id,
          projectId,
          title: requireText(report.title, "title"),
          description: textOrNull(report.description, "description"),
          visibility: requireVisibility(report.visibility),
          authorUserId: report.authorUserId ?? null,
          createdAt: report.createdAt,
          updatedAt: report.updatedAt,
        };
      });
      await db.withTenant(orgId, async (tx) => {
        // Its project may have been deleted while the archive arrived.
        await seeDeleted(tx);
        const made: string[] = [];
        for (const { stored, ...row } of rows) {
          if (await insertRestoredReport(tx, orgId, row, stored)) made.push(row.projectId);
        }
        for (const projectId of made.toSorted()) await countReport(tx, orgId, projectId, 1);
      });
      return {};
    },
  };
}
