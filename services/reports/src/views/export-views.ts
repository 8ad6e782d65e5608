import { CallerKind } from "@tidemark/proto/common/v1/common";
import type { ReportsArchiveService } from "@tidemark/proto/reports/v1/archive";
import { callerOf } from "@tidemark/requests";
import type { Handlers } from "@tidemark/rpc";
import type { ReportsDeps } from "../deps.ts";
import { encodeView } from "./encode-view.ts";
import { readViewsOfUser } from "./exported-views.sql.ts";

/** ReportsArchiveService.ExportViews. */
export function exportViews({
  db,
}: Pick<ReportsDeps, "db">): Handlers<(typeof ReportsArchiveService)["method"]>["exportViews"] {
  return async function* (_request, call) {
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
  };
}
