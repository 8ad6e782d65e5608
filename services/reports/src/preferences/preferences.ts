import { refuseUnpaid } from "@tidemark/requests";
import { textOrNull } from "../fields/text.rules.ts";
import type { ReportsDeps, ReportsHandlers } from "../deps.ts";
import { ownerOf } from "../owner/owner-of.ts";
import { findPreferences, savePreferences, type PreferencesRow } from "./preferences.sql.ts";

type Deps = Pick<ReportsDeps, "db">;

/** ReportsService.GetPreferences. @throws unauthenticated, forbidden */
export function getPreferences({ db }: Deps): ReportsHandlers["getPreferences"] {
  return async (_request, call) => {
    const { orgId, userId } = ownerOf(call);
    const row = await db.readTenant(orgId, (tx) => findPreferences(tx, orgId, userId), { plans: "walks" });
    return { preferences: row === undefined ? {} : encodePreferences(row) };
  };
}

/** ReportsService.SetPreferences. @throws unauthenticated, forbidden, payment_required, bad_request */
export function setPreferences({ db }: Deps): ReportsHandlers["setPreferences"] {
  return async (request, call) => {
    const { orgId, userId, caller } = ownerOf(call);
    refuseUnpaid(caller);
    const selectedProject = textOrNull(request.selectedProject, "selected_project");
    const row = await db.withTenant(orgId, (tx) => savePreferences(tx, orgId, userId, selectedProject));
    return { preferences: encodePreferences(row) };
  };
}

function encodePreferences({ selectedProject, updatedAt }: PreferencesRow) {
  return { selectedProject: selectedProject ?? undefined, updatedAt };
}
