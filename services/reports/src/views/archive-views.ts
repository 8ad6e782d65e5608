import { CallerKind } from "@tidemark/proto/common/v1/common";
import type { ReportsArchiveService } from "@tidemark/proto/reports/v1/archive";
import { callerOf, requireRows } from "@tidemark/requests";
import type { Handlers } from "@tidemark/rpc";
import type { ReportsRestoreService } from "@tidemark/proto/reports/v1/restore";
import type { ReportsDeps } from "../deps.ts";
import { seeDeleted } from "../deletion/deleted-projects.sql.ts";
import { requireText, textOrNull } from "../fields/text.rules.ts";
import { ownerOf } from "../owner/owner-of.ts";
import { encodeView } from "./get-view.ts";
import { insertRestoredView, readViewsOfUser } from "./archived-views.sql.ts";
import { readPayload, readVisibility } from "./payload.rules.ts";
import { countRestoredView } from "./view-counts.sql.ts";

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

/** ReportsRestoreService.RestoreViews. @throws see restore.proto */
export function restoreViews({
  db,
}: Pick<ReportsDeps, "db">): Handlers<(typeof ReportsRestoreService)["method"]>["restoreViews"] {
  return async ({ views }, call) => {
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
  };
}
