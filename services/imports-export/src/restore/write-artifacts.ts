import { RESTORE_LIMITS } from "@tidemark/limits";
import type { LineOf } from "@tidemark/archive";
import { present } from "@tidemark/values";
import { slicesOf } from "../commit/slices.rules.ts";
import { linesOfKinds, type LineWriter, type RestoreClients } from "./line-writer.ts";
import type { NewIds } from "./new-ids.rules.ts";

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

/** Creates the writer of versions with their entries and edges, which may begin with those of a version of the previous piece. */
export function createVersionsWriter(artifacts: RestoreClients["artifacts"], archiveId: string): LineWriter {
  return async (lines, _name, ids, ask) => {
    const all = linesOfKinds(lines, "version", "version.entries", "version.edges");
    const found: string[] = [];
    const versions = all.filter((line) => line.line === "version");
    for (const slice of slicesOf(versions, RESTORE_LIMITS.idsTogetherMax)) {
      const request = { versions: slice.map((row) => messageOf(row, ids)) };
      found.push(...(await ask((call) => artifacts.restoreVersions(request, call))).warnings);
    }
    for (const line of all) {
      if (line.line === "version") continue;
      const versionId = ids.of("version", line.id);
      if (line.line === "version.entries") {
        const entries = line.entries.map((entry) => ({
          id: ids.of("entry", entry.id),
          path: entry.path,
          kind: entry.kind,
          mimeType: entry.mime_type,
          ...present({
            sizeBytes: entry.size_bytes === undefined ? undefined : BigInt(entry.size_bytes),
            sha256: entry.sha256,
            referenceUri: entry.reference_uri,
          }),
        }));
        if (entries.length > 0) {
          await ask((call) => artifacts.restoreEntries({ archiveId, versionId, entries }, call));
        }
      } else {
        const edges = line.edges.map((edge) => ({
          id: ids.of("edge", edge.id),
          runId: ids.of("run", edge.run_id),
          direction: edge.direction,
          source: edge.source,
          createdAt: edge.created_at,
        }));
        if (edges.length > 0) await ask((call) => artifacts.restoreEdges({ versionId, edges }, call));
      }
    }
    return found;
  };
}

function messageOf(row: LineOf<"version">, ids: NewIds) {
  return {
    id: ids.of("version", row.id),
    collectionId: ids.of("collection", row.collection_id),
    versionIndex: row.version_index,
    digest: row.digest,
    sourceRunId: ids.of("run", row.source_run_id),
    fileCount: row.file_count,
    sizeBytes: BigInt(row.size_bytes),
    state: row.state,
    aliases: [...row.aliases],
    retentionMode: row.retention_mode,
    createdAt: row.created_at,
    ...present({
      sourceStep: row.source_step,
      ttlDays: row.ttl_days,
      expiresAt: row.expires_at,
      deleteRequestedAt: row.delete_requested_at,
      deletedAt: row.deleted_at,
      purgeAfter: row.purge_after,
      purgedAt: row.purged_at,
      auditReason: row.audit_reason,
    }),
  };
}
