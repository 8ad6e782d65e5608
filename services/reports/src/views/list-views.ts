import { VIEWS_PAGE_ROWS } from "@tidemark/limits";
import type { ReportsDeps, ReportsHandlers } from "../deps.ts";
import { ownerOf } from "../owner/owner-of.ts";
import { encodeSummary } from "./encode-view.ts";
import { readViewCursor, writeViewCursor } from "./view-cursor.ts";
import { listViewRows } from "./views.sql.ts";

/** ReportsService.ListViews. @throws unauthenticated, forbidden, bad_request */
export function listViews({ db }: Pick<ReportsDeps, "db">): ReportsHandlers["listViews"] {
  return async (request, call) => {
    const { orgId, userId } = ownerOf(call);
    const limit = Math.min(request.limit || VIEWS_PAGE_ROWS.default, VIEWS_PAGE_ROWS.max);
    const after = request.cursor === "" ? undefined : readViewCursor(request.cursor);
    // One more shows whether there is a next page.
    const page = { limit: limit + 1, after };
    const rows = await db.readTenant(orgId, (tx) => listViewRows(tx, orgId, userId, page), { plans: "walks" });
    const shown = rows.slice(0, limit);
    return {
      views: shown.map((row) => encodeSummary(row, userId)),
      nextCursor: rows.length > limit ? writeViewCursor(shown.at(-1)!) : "",
    };
  };
}
