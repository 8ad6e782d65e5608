import type { LineOf } from "@tidemark/archive";
import { ATTRIBUTES_PAGE_ROWS } from "@tidemark/limits";
import { BYTES_TOGETHER_MAX, slicesOf } from "../commit/slices.rules.ts";
import { linesOfKinds, type LineWriter } from "./line-writer.ts";
import type { RestoreClients } from "./clients.ts";

const utf8 = new TextEncoder();

/** Creates the writer of attributes. */
export function createAttributesWriter(ingest: RestoreClients["ingest"]): LineWriter {
  return async (lines, name, ids, ask) => {
    let part = 0;
    for (const [run, rows] of Map.groupBy(linesOfKinds(lines, "attribute"), ({ run_id }) => run_id)) {
      const weightOf = ({ value, summary }: LineOf<"attribute">): number => value.length + summary.length;
      for (const slice of slicesOf(rows, ATTRIBUTES_PAGE_ROWS.max, BYTES_TOGETHER_MAX, weightOf)) {
        const attributes = slice.map((row) => ({
          path: row.path,
          type: row.attribute_type,
          loggedAt: row.logged_at,
          valueJson: utf8.encode(row.value),
          summaryJson: utf8.encode(row.summary),
          artifactId: row.artifact_id === undefined ? "" : ids.of("artifact", row.artifact_id),
          createdAt: row.created_at,
          ...(row.step === undefined ? {} : { step: row.step }),
        }));
        const request = { name: `${name}:${part++}`, runId: ids.of("run", run), attributes };
        await ask((call) => ingest.restoreAttributes(request, call));
      }
    }
    return [];
  };
}
