import { pathId, throwFault } from "@tidemark/requests";
import type { ReportsDeps, ReportsHandlers } from "../deps.ts";
import { ownerOf } from "../owner/owner-of.ts";
import { requireDeletable, requireExpected, requireUnchanged, VIEW } from "./require-view.ts";
import { countDeletedView } from "./view-counts.sql.ts";
import { lockView, markViewDeleted } from "./views.sql.ts";

/** ReportsService.DeleteView. @throws unauthenticated, forbidden, not_found, bad_request, conflict if it has changed since the caller read it */
export function deleteView({ db }: Pick<ReportsDeps, "db">): ReportsHandlers["deleteView"] {
  return async (request, call) => {
    const { orgId, userId, role } = ownerOf(call);
    const id = pathId(request.viewId, VIEW);
    const deletedAt = await db.withTenant(orgId, async (tx) => {
      const state = requireDeletable(await lockView(tx, orgId, id), { userId, role });
      throwFault(request.queryFault);
      requireUnchanged(state, requireExpected(request.expectedUpdatedAt));
      const marked = await markViewDeleted(tx, orgId, id);
      await countDeletedView(tx, orgId, state.ownerUserId);
      return marked;
    });
    return { viewId: id, deletedAt };
  };
}
