import { admitChange, pathId, refuseUnpaid, throwFault } from "@tidemark/requests";
import { notFound } from "@tidemark/errors";
import { enterNamedProject } from "../deletion/deleted-projects.sql.ts";
import { requireText, textBytes, textOrNull } from "../fields/text.rules.ts";
import type { ReportsDeps, ReportsHandlers } from "../deps.ts";
import { ownerOf } from "../owner/owner-of.ts";
import { encodeView, requireDeletable, requireExpected, requireOwn, requireUnchanged, VIEW } from "./get-view.ts";
import { readPayload, readVisibility } from "./payload.rules.ts";
import { countDeletedView, countNewView } from "./view-list.sql.ts";
import { changeView, insertView, lockView, markViewDeleted, viewBytes } from "./views.sql.ts";

/** ReportsService.CreateView. @throws unauthenticated, forbidden, payment_required, plan_limit_exceeded, not_found for a deleted project, bad_request also when there are too many */
export function createView({
  db,
  storageGate,
  newId,
}: Pick<ReportsDeps, "db" | "storageGate" | "newId">): ReportsHandlers["createView"] {
  return async (request, call) => {
    const { orgId, userId, caller } = ownerOf(call);
    refuseUnpaid(caller);
    const content = {
      name: requireText(request.name, "name"),
      project: textOrNull(request.project, "project"),
      payload: readPayload(request.payloadJson),
      visibility: readVisibility(request.visibility),
    };
    await storageGate.admit(caller, textBytes(content.name, content.project, content.payload));
    const row = await db.withTenant(orgId, async (tx) => {
      await enterNamedProject(tx, orgId, content.project);
      const made = await insertView(tx, orgId, userId, newId(), content);
      await countNewView(tx, orgId, userId);
      return made;
    });
    return { view: encodeView(row, userId) };
  };
}

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
