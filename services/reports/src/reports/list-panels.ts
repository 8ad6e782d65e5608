import { PANELS_PAGE_ROWS } from "@tidemark/limits";
import { callerOf } from "@tidemark/requests";
import type { ReportsDeps, ReportsHandlers } from "../deps.ts";
import { readPanelCursor, writePanelCursor } from "./panel-cursor.ts";
import { choosePanels } from "./panels.rules.ts";
import { listPanelSources, readPanels } from "./panels.sql.ts";

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
