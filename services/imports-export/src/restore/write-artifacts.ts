import { RESTORE_LIMITS } from "@tidemark/limits";
import { slicesOf } from "../commit/slices.rules.ts";
import { linesOfKinds, type LineWriter } from "./line-writer.ts";
import type { RestoreClients } from "./clients.ts";
import { present } from "./present.ts";

const utf8 = new TextEncoder();

/** Creates the writer of plain artifacts. */
export function createArtifactsWriter(artifacts: RestoreClients["artifacts"], archiveId: string): LineWriter {
  return async (lines, _name, ids, ask) => {
    for (const slice of slicesOf(linesOfKinds(lines, "artifact"), RESTORE_LIMITS.idsTogetherMax)) {
      const messages = slice.map((row) => ({
        id: ids.of("artifact", row.id),
        runId: ids.of("run", row.run_id),
        type: row.artifact_type,
        name: row.name,
        mimeType: row.mime_type,
        uri: row.uri ?? "",
        storageBackend: row.uri === undefined ? "" : "external",
        metadataJson: utf8.encode(row.metadata),
        createdAt: row.created_at,
        ...present({
          step: row.step,
          sizeBytes: row.size_bytes === undefined ? undefined : BigInt(row.size_bytes),
          sha256: row.sha256,
        }),
      }));
      await ask((call) => artifacts.restoreArtifacts({ archiveId, artifacts: messages }, call));
    }
    return [];
  };
}
