import { notFound } from "@tidemark/errors";
import { callerOf, pathId } from "@tidemark/requests";
import type { ReportsDeps, ReportsHandlers } from "../deps.ts";
import { ownerOf } from "../owner/owner-of.ts";
import { readGivenView, writeEnvelope } from "./envelope.rules.ts";
import { VIEW } from "./get-view.ts";
import { findView } from "./views.sql.ts";

const utf8 = new TextEncoder();

/** ReportsService.ExportView. @throws unauthenticated, forbidden, not_found */
export function exportView({ db, now }: Pick<ReportsDeps, "db" | "now">): ReportsHandlers["exportView"] {
  return async (request, call) => {
    const { orgId, userId } = ownerOf(call);
    const id = pathId(request.viewId, VIEW);
    const row = await db.readTenant(orgId, (tx) => findView(tx, orgId, userId, id), { plans: "walks" });
    if (row === undefined) throw notFound(VIEW);
    return { exportedJson: utf8.encode(writeEnvelope(row, now().toISOString())), name: row.name };
  };
}

/** ReportsService.ReadView. @throws unauthenticated, bad_request */
export function readView(): ReportsHandlers["readView"] {
  return async (request, call) => {
    callerOf(call);
    const { payload, warnings } = await readGivenView(request.viewJson);
    return { payloadJson: utf8.encode(payload), warnings: [...warnings] };
  };
}
