import { RESTORE_LIMITS } from "@tidemark/limits";
import { BYTES_TOGETHER_MAX, slicesOf } from "../commit/slices.rules.ts";
import { linesOfKinds, type LineWriter } from "./line-writer.ts";
import type { RestoreClients } from "./clients.ts";
import { present } from "./present.ts";

const utf8 = new TextEncoder();

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
