import type { LineOf } from "@tidemark/archive";
import { ATTRIBUTES_PAGE_ROWS, PAGE_ROWS } from "@tidemark/limits";
import { BYTES_TOGETHER_MAX, slicesOf } from "../commit/slices.rules.ts";
import { linesOfKinds, type LineWriter, type RestoreClients } from "./line-writer.ts";
import type { NewIds } from "./new-ids.rules.ts";

const utf8 = new TextEncoder();

/** Creates the writer of objects and of the rows of tables, which may begin with rows of a table of the previous piece. */
export function createObjectsWriter(ingest: RestoreClients["ingest"], archiveId: string): LineWriter {
  return async (lines, name, ids, ask) => {
    const all = linesOfKinds(lines, "object", "object.rows");
    const objects = all.filter((line) => line.line === "object");
    let part = 0;
    for (const [run, rows] of Map.groupBy(objects, ({ run_id }) => run_id)) {
      const weightOf = (row: LineOf<"object">): number => row.value.length + row.metadata.length + row.summary.length;
      for (const slice of slicesOf(rows, PAGE_ROWS.max, BYTES_TOGETHER_MAX, weightOf)) {
        const runId = ids.of("run", run);
        const messages = slice.map((row) => messageOf(row, ids));
        const request = { name: `${name}:${part++}`, archiveId, runId, objects: messages };
        await ask((call) => ingest.restoreObjects(request, call));
      }
    }
    for (const line of all) {
      if (line.line !== "object.rows" || line.rows.length === 0) continue;
      const request = { name: `${name}:${part++}`, archiveId, objectId: line.id, rows: [...line.rows] };
      await ask((call) => ingest.restoreTableRows(request, call));
    }
    return [];
  };
}

function messageOf(row: LineOf<"object">, ids: NewIds) {
  return {
    id: row.id,
    key: row.key,
    kind: row.kind,
    valueJson: utf8.encode(row.value),
    metadataJson: utf8.encode(row.metadata),
    summaryJson: utf8.encode(row.summary),
    artifactId: row.artifact_id === undefined ? "" : ids.of("artifact", row.artifact_id),
    createdAt: row.created_at,
    ...(row.step === undefined ? {} : { step: row.step }),
  };
}

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
