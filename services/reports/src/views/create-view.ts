import { refuseUnpaid } from "@tidemark/requests";
import { enterNamedProject } from "../deletion/deleted-projects.sql.ts";
import { textBytes } from "../fields/stored-bytes.rules.ts";
import { requireText, textOrNull } from "../fields/text.rules.ts";
import type { ReportsDeps, ReportsHandlers } from "../deps.ts";
import { ownerOf } from "../owner/owner-of.ts";
import { encodeView } from "./encode-view.ts";
import { readPayload } from "./payload.rules.ts";
import { countNewView } from "./view-counts.sql.ts";
import { insertView } from "./views.sql.ts";
import { readVisibility } from "./visibility.rules.ts";

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
