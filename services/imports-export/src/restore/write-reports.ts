import { present } from "@tidemark/values";
import { RESTORE_LIMITS } from "@tidemark/limits";
import { BYTES_TOGETHER_MAX, slicesOf } from "../commit/slices.rules.ts";
import { linesOfKinds, type LineWriter, type RestoreClients } from "./line-writer.ts";

const utf8 = new TextEncoder();

/** Creates the writer of reports. Their blocks name rows of the archive by the new ids of these. */
export function createReportsWriter(reports: RestoreClients["reports"]): LineWriter {
  return async (lines, _name, ids, ask) => {
    const rows = linesOfKinds(lines, "report");
    const slices = slicesOf(rows, RESTORE_LIMITS.idsTogetherMax, BYTES_TOGETHER_MAX, ({ blocks }) => blocks.length);
    for (const slice of slices) {
      const messages = slice.map((row) => ({
        id: ids.of("report", row.id),
        projectId: ids.of("project", row.project_id),
        title: row.title,
        visibility: row.visibility,
        blocksJson: utf8.encode(ids.inDocument(row.blocks)),
        createdAt: row.created_at,
        updatedAt: row.updated_at,
        ...present({ description: row.description, authorUserId: row.author_user_id }),
      }));
      await ask((call) => reports.restoreReports({ reports: messages }, call));
    }
    return [];
  };
}

/** Creates the writer of views, which get the importer as their owner. They name rows of the archive by the new ids of these. */
export function createViewsWriter(reports: RestoreClients["reports"]): LineWriter {
  return async (lines, _name, ids, ask) => {
    const rows = linesOfKinds(lines, "view");
    const slices = slicesOf(rows, RESTORE_LIMITS.idsTogetherMax, BYTES_TOGETHER_MAX, ({ payload }) => payload.length);
    for (const slice of slices) {
      const views = slice.map((row) => ({
        id: ids.of("view", row.id),
        name: row.name,
        payloadJson: utf8.encode(ids.inDocument(row.payload)),
        createdAt: row.created_at,
        updatedAt: row.updated_at,
        ...present({ project: row.project, visibility: row.visibility }),
      }));
      await ask((call) => reports.restoreViews({ views }, call));
    }
    return [];
  };
}
