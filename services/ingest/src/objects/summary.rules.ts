import { readDocument, type ExactObject } from "@tidemark/documents";
import type { CreateObjectRequest } from "@tidemark/proto/ingest/v1/objects";
import { isMedia } from "./object-limits.rules.ts";

/** Facts of the artifact, which are added to the summary of media when it is stored. */
const ARTIFACT_FACTS: ReadonlySet<string> = new Set(["artifact_name", "artifact_uri", "mime_type", "size_bytes"]);

/**
 * Returns the summary of an object as JSON: of a table with `row_count` and `columns` (those of the first row) where the client sent none, of a
 * medium without the facts of its artifact.
 * @throws bad_request when it is not a JSON object
 */
export function summaryOf({ kind, summaryJson, chunks }: CreateObjectRequest): string {
  const sent = readDocument(summaryJson, "summary");
  if (isMedia(kind)) {
    return JSON.stringify(Object.fromEntries(Object.entries(sent).filter(([name]) => !ARTIFACT_FACTS.has(name))));
  }
  return JSON.stringify(kind === "table" ? { ...sent, ...tableFacts(sent, chunks) } : sent);
}

function tableFacts(sent: ExactObject, chunks: CreateObjectRequest["chunks"]): ExactObject {
  const [first] = chunks;
  const shape = first?.shapes[first.rowShapes[0] ?? 0];
  return {
    row_count: sent["row_count"] ?? chunks.reduce((sum, { rowCount }) => sum + rowCount, 0),
    columns: sent["columns"] ?? shape?.names.map((name) => first!.names[name]!) ?? [],
  };
}
