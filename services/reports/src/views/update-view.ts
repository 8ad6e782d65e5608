import { notFound } from "@tidemark/errors";
import { pathId, refuseUnpaid, throwFault } from "@tidemark/requests";
import { enterNamedProject } from "../deletion/deleted-projects.sql.ts";
import { requireText, textOrNull } from "../fields/text.rules.ts";
import type { ReportsDeps, ReportsHandlers } from "../handlers.ts";
import { ownerOf } from "../owner/owner-of.ts";
import { encodeView } from "./encode-view.ts";
import { readPayload } from "./payload.rules.ts";
import { VIEW } from "./require-view.ts";
import { changeView, lockView } from "./views.sql.ts";

/** ReportsService.UpdateView: the last one wins. @throws unauthenticated, forbidden, payment_required, not_found, bad_request */
export function updateView({ db }: Pick<ReportsDeps, "db">): ReportsHandlers["updateView"] {
  return async (request, call) => {
    const { orgId, userId, caller } = ownerOf(call);
    refuseUnpaid(caller);
    const id = pathId(request.viewId, VIEW);
    const row = await db.withTenant(orgId, async (tx) => {
      const state = await lockView(tx, orgId, userId, id);
      if (state === undefined || state.deletedAt !== null) throw notFound(VIEW);
      throwFault(request.bodyFault);
      const { name, project, payloadJson } = request;
      const change = {
        name: name === undefined ? undefined : requireText(name, "name"),
        project: project === undefined ? undefined : textOrNull(project, "project"),
        payload: payloadJson === undefined ? undefined : readPayload(payloadJson),
      };
      await enterNamedProject(tx, orgId, change.project);
      return changeView(tx, orgId, id, change);
    });
    return { view: encodeView(row) };
  };
}
