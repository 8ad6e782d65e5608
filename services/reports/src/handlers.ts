import { createEmbed } from "./embeds/create-embed.ts";
import { getEmbedPolicy } from "./embeds/get-embed-policy.ts";
import { openEmbed } from "./embeds/open-embed.ts";
import { getPreferences, setPreferences } from "./preferences/preferences.ts";
import { createReport } from "./reports/create-report.ts";
import { deleteReport } from "./reports/delete-report.ts";
import { getReport, getSharedReport } from "./reports/get-report.ts";
import { listPanels } from "./reports/list-panels.ts";
import { listReports } from "./reports/list-reports.ts";
import { shareReport } from "./reports/share-report.ts";
import { updateReport } from "./reports/update-report.ts";
import { createView } from "./views/create-view.ts";
import { deleteView } from "./views/delete-view.ts";
import { exportView } from "./views/export-view.ts";
import { getView } from "./views/get-view.ts";
import { importView } from "./views/import-view.ts";
import { listViews } from "./views/list-views.ts";
import { updateView } from "./views/update-view.ts";
import { readView } from "./views/read-view.ts";
import type { ReportsArchiveService } from "@tidemark/proto/reports/v1/archive";
import type { ReportsRestoreService } from "@tidemark/proto/reports/v1/restore";
import type { Handlers } from "@tidemark/rpc";
import { exportReports } from "./reports/export-reports.ts";
import { restoreReportsHandlers } from "./reports/restore-reports.ts";
import { exportViews } from "./views/export-views.ts";
import { restoreViews } from "./views/restore-views.ts";
import type { ReportsDeps, ReportsHandlers } from "./deps.ts";

/** Returns the handlers of ReportsService. */
export function reportsHandlers(deps: ReportsDeps): ReportsHandlers {
  return {
    listReports: listReports(deps),
    createReport: createReport(deps),
    getReport: getReport(deps),
    getSharedReport: getSharedReport(deps),
    updateReport: updateReport(deps),
    deleteReport: deleteReport(deps),
    shareReport: shareReport(deps),
    listPanels: listPanels(deps),
    getPreferences: getPreferences(deps),
    setPreferences: setPreferences(deps),
    listViews: listViews(deps),
    createView: createView(deps),
    getView: getView(deps),
    updateView: updateView(deps),
    deleteView: deleteView(deps),
    exportView: exportView(deps),
    importView: importView(deps),
    readView: readView(),
    createEmbedSession: createEmbed(deps),
    openEmbedSession: openEmbed(deps),
    getEmbedPolicy: getEmbedPolicy(deps),
  };
}

/** Returns the handlers of ReportsArchiveService. */
export function archiveHandlers(deps: Pick<ReportsDeps, "db">): Handlers<(typeof ReportsArchiveService)["method"]> {
  return { exportReports: exportReports(deps), exportViews: exportViews(deps) };
}

/** Returns the handlers of ReportsRestoreService. */
export function restoreHandlers(deps: Pick<ReportsDeps, "db">): Handlers<(typeof ReportsRestoreService)["method"]> {
  return { ...restoreReportsHandlers(deps), restoreViews: restoreViews(deps) };
}
