import type { ReportsRestoreService } from "@tidemark/proto/reports/v1/restore";
import { requireRows } from "@tidemark/requests";
import type { Handlers } from "@tidemark/rpc";
import { seeDeleted } from "../deletion/deleted-projects.sql.ts";
import type { ReportsDeps } from "../deps.ts";
import { requireText, textOrNull } from "../fields/text.rules.ts";
import { ownerOf } from "../owner/owner-of.ts";
import { readPayload } from "./payload.rules.ts";
import { insertRestoredView } from "./restored-views.sql.ts";
import { countRestoredView } from "./view-counts.sql.ts";
import { readVisibility } from "./visibility.rules.ts";

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
