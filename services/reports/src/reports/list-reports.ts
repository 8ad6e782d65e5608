import { PANELS_PAGE_ROWS, REPORTS_PAGE_ROWS } from "@tidemark/limits";
import type { Tx } from "@tidemark/pg";
import { callerOf, isUuid, readPage } from "@tidemark/requests";
import type { ReportsDeps, ReportsHandlers } from "../deps.ts";
import {
  countReports,
  findProjectByName,
  listReportRows,
  type ReportSummaryRow,
  listPanelSources,
  readPanels,
} from "./report-list.sql.ts";
import { choosePanels, type PanelStart } from "./report.rules.ts";
import { isInstant, readCursor, writeCursor } from "@tidemark/values";
import { badRequest } from "@tidemark/errors";

type Deps = Pick<ReportsDeps, "db" | "shareTtlSeconds">;

/** ReportsService.ListReports. The list of a project that does not exist, or that the caller may not see, is empty. */
export function listReports({ db, shareTtlSeconds }: Deps): ReportsHandlers["listReports"] {
  return async (request, call) => {
    const { orgId, projectId: own } = callerOf(call);
    const page = readPage(request, REPORTS_PAGE_ROWS);
    return db.readTenant(
      orgId,
      async (tx) => {
        const isNamed = request.project !== "";
        const projectId = isNamed ? await findProject(tx, orgId, request.project) : own;
        const isHidden = projectId === undefined || (own !== undefined && own !== projectId);
        if (isNamed && isHidden) return { reports: [], total: 0n };
        const total = BigInt(await countReports(tx, orgId, projectId));
        // Otherwise the walk would look at every report of a deleted project.
        if (total === 0n) return { reports: [], total };
        const rows = await listReportRows(tx, orgId, projectId, page, shareTtlSeconds);
        return { reports: rows.map(encodeSummary), total };
      },
      { plans: "walks" },
    );
  };
}

/** Finds a project by its id, which is not looked up, or else by its name. */
async function findProject(tx: Tx, orgId: string, project: string): Promise<string | undefined> {
  const id = project.toLowerCase();
  return isUuid(id) ? id : findProjectByName(tx, orgId, project);
}

function encodeSummary({ description, projectId, authorUserId, ...same }: ReportSummaryRow) {
  return {
    ...same,
    description: description ?? undefined,
    projectId: projectId ?? undefined,
    authorUserId: authorUserId ?? undefined,
  };
}

const utf8 = new TextEncoder();

/** ReportsService.ListPanels. @throws bad_request for a cursor that is not one of this list */
export function listPanels({ db }: Pick<ReportsDeps, "db">): ReportsHandlers["listPanels"] {
  return async (request, call) => {
    const { orgId, projectId } = callerOf(call);
    const limit = Math.min(request.limit || PANELS_PAGE_ROWS.default, PANELS_PAGE_ROWS.max);
    const start = request.cursor === "" ? undefined : readPanelCursor(request.cursor);
    return db.readTenant(
      orgId,
      async (tx) => {
        // Each has a panel, and one more shows whether there is a next page.
        const sources = await listPanelSources(tx, orgId, { projectId, start, limit: limit + 1 });
        // A report that no longer exists has nothing to skip.
        const skip = sources[0]?.id === start?.id ? (start?.skip ?? 0) : 0;
        const { reports, next } = choosePanels(sources, skip, limit);
        const rows = await readPanels(tx, orgId, reports);
        const panels = rows.flatMap(({ title, panels: specs, indexes }, i) =>
          specs.map((spec, n) => ({
            reportId: reports[i]!.id,
            reportTitle: title,
            panelIndex: indexes[n]!,
            specJson: utf8.encode(spec),
          })),
        );
        return { panels, nextCursor: next === undefined ? "" : writePanelCursor(next) };
      },
      { plans: "walks" },
    );
  };
}

/** Returns the cursor of a page. It stays valid while reports are added. */
export function writePanelCursor({ createdAt, id, skip }: PanelStart): string {
  return writeCursor([createdAt, id, skip]);
}

/** Reads a cursor of this list. @throws bad_request */
export function readPanelCursor(cursor: string): PanelStart {
  const [createdAt, id, skip] = readCursor(cursor, 3) ?? [];
  const isSkip = Number.isSafeInteger(skip) && (skip as number) >= 0;
  if (isInstant(createdAt) && typeof id === "string" && isUuid(id) && isSkip) {
    return { createdAt, id, skip: skip as number };
  }
  throw badRequest("cursor is not a cursor of this list", "cursor");
}
