import { badRequest, notFound } from "@tidemark/errors";
import { RESTORE_LIMITS } from "@tidemark/limits";
import type { Db } from "@tidemark/pg";
import type { ReportsRestoreService } from "@tidemark/proto/reports/v1/restore";
import { callerOf, canSee, isUuid, pathId } from "@tidemark/requests";
import type { Handlers } from "@tidemark/rpc";
import { seeDeleted } from "../deletion/deleted-projects.sql.ts";
import { requireText, textOrNull } from "../fields/text.rules.ts";
import { ownerOf } from "../owner/owner-of.ts";
import { countReport } from "../reports/report-counts.sql.ts";
import { readBlocks, requireVisibility } from "../reports/report-input.rules.ts";
import { readPayload } from "../views/payload.rules.ts";
import { countRestoredView } from "../views/view-counts.sql.ts";
import { readVisibility } from "../views/visibility.rules.ts";
import { findTakenIds, hasIds, insertRestoredReport, insertRestoredView } from "./restored-rows.sql.ts";

/** Returns the handlers of ReportsRestoreService. @throws see restore.proto */
export function restoreHandlers({ db }: { readonly db: Db }): Handlers<(typeof ReportsRestoreService)["method"]> {
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

    async restoreViews({ views }, call) {
      const { orgId, userId } = ownerOf(call);
      requireRows(views);
      const rows = views.map((view) => ({
        id: view.id,
        name: requireText(view.name, "name"),
        project: textOrNull(view.project, "project"),
        payload: readPayload(view.payloadJson),
        visibility: readVisibility(view.visibility),
        createdAt: view.createdAt,
        updatedAt: view.updatedAt,
      }));
      await db.withTenant(orgId, async (tx) => {
        await seeDeleted(tx);
        for (const row of rows) {
          if (await insertRestoredView(tx, orgId, userId, row)) await countRestoredView(tx, orgId, userId);
        }
      });
      return {};
    },
  };
}

function requireRows(rows: readonly unknown[]): void {
  if (rows.length < 1 || rows.length > RESTORE_LIMITS.idsTogetherMax) {
    throw badRequest(`1 to ${RESTORE_LIMITS.idsTogetherMax} rows may come together`);
  }
}
