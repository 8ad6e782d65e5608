import { notFound } from "@tidemark/errors";
import { VIEWS_PAGE_ROWS } from "@tidemark/limits";
import { pathId, refuseUnpaid, throwFault } from "@tidemark/requests";
import { requireText, textOrNull } from "../fields/text.rules.ts";
import type { ReportsDeps, ReportsHandlers } from "../handlers.ts";
import { ownerOf } from "../owner/owner-of.ts";
import { encodeView } from "./encode-view.ts";
import { readPayload } from "./payload.rules.ts";
import { requireExpected, requireUnchanged, VIEW } from "./require-view.ts";
import { countDeletedView, countNewView } from "./view-counts.sql.ts";
import { readViewCursor, writeViewCursor } from "./view-cursor.ts";
import { changeView, findView, insertView, listViewRows, lockView, markViewDeleted } from "./views.sql.ts";

type Deps = Pick<ReportsDeps, "db">;

/** ReportsService.ListViews. @throws unauthenticated, forbidden, bad_request */
export function listViews({ db }: Deps): ReportsHandlers["listViews"] {
  return async (request, call) => {
    const { orgId, userId } = ownerOf(call);
    const limit = Math.min(request.limit || VIEWS_PAGE_ROWS.default, VIEWS_PAGE_ROWS.max);
    const after = request.cursor === "" ? undefined : readViewCursor(request.cursor);
    // One more tells whether there is a next page.
    const page = { limit: limit + 1, after };
    const rows = await db.readTenant(orgId, (tx) => listViewRows(tx, orgId, userId, page), { plans: "walks" });
    const shown = rows.slice(0, limit);
    return {
      views: shown.map(({ project, ...same }) => ({ ...same, project: project ?? undefined })),
      nextCursor: rows.length > limit ? writeViewCursor(shown.at(-1)!) : "",
    };
  };
}

/** ReportsService.CreateView. @throws unauthenticated, forbidden, payment_required, bad_request also when there are too many */
export function createView({ db, newId }: Deps & Pick<ReportsDeps, "newId">): ReportsHandlers["createView"] {
  return async (request, call) => {
    const { orgId, userId, caller } = ownerOf(call);
    refuseUnpaid(caller);
    const content = {
      name: requireText(request.name, "name"),
      project: textOrNull(request.project, "project"),
      payload: readPayload(request.payloadJson),
    };
    const row = await db.withTenant(orgId, async (tx) => {
      const made = await insertView(tx, orgId, userId, newId(), content);
      await countNewView(tx, orgId, userId);
      return made;
    });
    return { view: encodeView(row) };
  };
}

/** ReportsService.GetView. @throws unauthenticated, forbidden, not_found */
export function getView({ db }: Deps): ReportsHandlers["getView"] {
  return async (request, call) => {
    const { orgId, userId } = ownerOf(call);
    const id = pathId(request.viewId, VIEW);
    const row = await db.readTenant(orgId, (tx) => findView(tx, orgId, userId, id), { plans: "walks" });
    if (row === undefined) throw notFound(VIEW);
    return { view: encodeView(row) };
  };
}

/** ReportsService.UpdateView: the last one wins. @throws unauthenticated, forbidden, payment_required, not_found, bad_request */
export function updateView({ db }: Deps): ReportsHandlers["updateView"] {
  return async (request, call) => {
    const { orgId, userId, caller } = ownerOf(call);
    refuseUnpaid(caller);
    const id = pathId(request.viewId, VIEW);
    const row = await db.withTenant(orgId, async (tx) => {
      const state = await lockView(tx, orgId, userId, id);
      if (state === undefined || state.deletedAt !== null) throw notFound(VIEW);
      throwFault(request.bodyFault);
      const { name, project, payloadJson } = request;
      return changeView(tx, orgId, id, {
        name: name === undefined ? undefined : requireText(name, "name"),
        project: project === undefined ? undefined : textOrNull(project, "project"),
        payload: payloadJson === undefined ? undefined : readPayload(payloadJson),
      });
    });
    return { view: encodeView(row) };
  };
}

/** ReportsService.DeleteView. @throws unauthenticated, forbidden, not_found, bad_request, conflict unless it is as the caller knows it */
export function deleteView({ db }: Deps): ReportsHandlers["deleteView"] {
  return async (request, call) => {
    const { orgId, userId } = ownerOf(call);
    const id = pathId(request.viewId, VIEW);
    const deletedAt = await db.withTenant(orgId, async (tx) => {
      const state = await lockView(tx, orgId, userId, id);
      if (state === undefined) throw notFound(VIEW);
      throwFault(request.queryFault);
      requireUnchanged(state, requireExpected(request.expectedUpdatedAt));
      const marked = await markViewDeleted(tx, orgId, id);
      await countDeletedView(tx, orgId, userId);
      return marked;
    });
    return { viewId: id, deletedAt };
  };
}
