import { notFound } from "@tidemark/errors";
import { admitChange } from "@tidemark/plan-limits";
import { pathId, refuseUnpaid, throwFault } from "@tidemark/requests";
import { enterNamedProject } from "../deletion/deleted-projects.sql.ts";
import { textBytes } from "../fields/stored-bytes.rules.ts";
import { requireText, textOrNull } from "../fields/text.rules.ts";
import type { ReportsDeps, ReportsHandlers } from "../deps.ts";
import { ownerOf } from "../owner/owner-of.ts";
import { encodeView } from "./encode-view.ts";
import { readPayload } from "./payload.rules.ts";
import { requireOwn, VIEW } from "./require-view.ts";
import { changeView, lockView, viewBytes } from "./views.sql.ts";
import { readVisibility } from "./visibility.rules.ts";

/** ReportsService.UpdateView: the last one wins. @throws unauthenticated, forbidden, payment_required, not_found, bad_request, plan_limit_exceeded */
export function updateView({
  db,
  storageGate,
}: Pick<ReportsDeps, "db" | "storageGate">): ReportsHandlers["updateView"] {
  return async (request, call) => {
    const { orgId, userId, caller } = ownerOf(call);
    refuseUnpaid(caller);
    const id = pathId(request.viewId, VIEW);
    const row = await db.withTenant(orgId, async (tx) => {
      const state = requireOwn(await lockView(tx, orgId, id), userId);
      if (state.deletedAt !== null) throw notFound(VIEW);
      throwFault(request.bodyFault);
      const { name, project, payloadJson, visibility } = request;
      const change = {
        name: name === undefined ? undefined : requireText(name, "name"),
        project: project === undefined ? undefined : textOrNull(project, "project"),
        payload: payloadJson === undefined ? undefined : readPayload(payloadJson),
        visibility: visibility === undefined ? undefined : readVisibility(visibility),
      };
      await admitChange(storageGate, caller, textBytes(change.name, change.project, change.payload), () =>
        viewBytes(tx, orgId, id, change),
      );
      await enterNamedProject(tx, orgId, change.project);
      return changeView(tx, orgId, id, change);
    });
    return { view: encodeView(row, userId) };
  };
}
