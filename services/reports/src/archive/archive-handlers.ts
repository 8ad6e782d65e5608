import { notFound } from "@tidemark/errors";
import type { Db } from "@tidemark/pg";
import { CallerKind } from "@tidemark/proto/common/v1/common";
import type { ReportsArchiveService } from "@tidemark/proto/reports/v1/archive";
import { callerOf, canSee, isUuid } from "@tidemark/requests";
import type { Handlers } from "@tidemark/rpc";
import { encodeReport } from "../reports/encode-report.ts";
import { encodeView } from "../views/encode-view.ts";
import { readReportsOfProject, readViewsOfUser } from "./owned-rows.sql.ts";

/** Returns the handlers of ReportsArchiveService. ExportReports throws not_found. */
export function archiveHandlers({ db }: { readonly db: Db }): Handlers<(typeof ReportsArchiveService)["method"]> {
  return {
    async *exportReports({ projectId }, call) {
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
    },
    async *exportViews(_request, call) {
      const { orgId, kind } = callerOf(call);
      const userId = call.identity?.userId ?? "";
      // A key has no views, and neither does a session that was made from a key.
      if (kind !== CallerKind.SESSION || userId === "") return;
      yield* db.streamTenant(
        orgId,
        async function* (tx) {
          for await (const row of readViewsOfUser(tx, orgId, userId)) yield { view: encodeView(row, userId) };
        },
        { plans: "walks" },
      );
    },
  };
}
