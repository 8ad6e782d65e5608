import { notFound } from "@tidemark/errors";
import { pathId } from "@tidemark/requests";
import type { ReportsDeps, ReportsHandlers } from "../deps.ts";
import { ownerOf } from "../owner/owner-of.ts";
import { encodeView } from "./encode-view.ts";
import { VIEW } from "./require-view.ts";
import { findView } from "./views.sql.ts";

/** ReportsService.GetView. @throws unauthenticated, forbidden, not_found */
export function getView({ db }: Pick<ReportsDeps, "db">): ReportsHandlers["getView"] {
  return async (request, call) => {
    const { orgId, userId } = ownerOf(call);
    const id = pathId(request.viewId, VIEW);
    const row = await db.readTenant(orgId, (tx) => findView(tx, orgId, userId, id), { plans: "walks" });
    if (row === undefined) throw notFound(VIEW);
    return { view: encodeView(row, userId) };
  };
}
