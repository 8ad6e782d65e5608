import type { ReportsArchiveService } from "@tidemark/proto/reports/v1/archive";
import type { ReportsRestoreService } from "@tidemark/proto/reports/v1/restore";
import type { Handlers } from "@tidemark/rpc";
import { createEmbed, getEmbedPolicy, openEmbed } from "./embeds/embeds.ts";
import { getPreferences, setPreferences } from "./preferences/preferences.ts";
import { createReport, deleteReport, endShare, updateReport, shareReport } from "./reports/change-report.ts";
import { getReport, getSharedReport, openSharedData } from "./reports/get-report.ts";
import { listPanels, listReports } from "./reports/list-reports.ts";
import { createView, deleteView, updateView } from "./views/change-view.ts";
import { exportView, readView, importView, exportViews, restoreViews } from "./views/exchange-views.ts";
import { getView, listViews } from "./views/get-view.ts";
import { exportReports, restoreReportsHandlers } from "./reports/archive-reports.ts";
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
    endShare: endShare(deps),
    openSharedData: openSharedData(deps),
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
