import { badRequest } from "@tidemark/errors";
import { artifactUri } from "@tidemark/limits";
import type { ArtifactsRestoreService } from "@tidemark/proto/artifacts/v1/restore";
import type { Artifact } from "@tidemark/proto/artifacts/v1/artifacts";
import { callerOf, isUuid, pathId, requireRows } from "@tidemark/requests";
import type { Handlers } from "@tidemark/rpc";
import type { ArtifactsDeps } from "../deps.ts";
import { wantBytes } from "../objects/wanted-bytes.sql.ts";
import { addStorage } from "../storage/storage.sql.ts";
import { unknownSizesOf } from "./artifact-input.rules.ts";
import { countArtifacts } from "./artifacts.sql.ts";
import { findTakenIds, hasIds, insertRestoredArtifacts, type RestoredArtifact } from "./archived-artifacts.sql.ts";

const utf8 = new TextDecoder();

type ArtifactHandlers = Pick<
  Handlers<(typeof ArtifactsRestoreService)["method"]>,
  "findTakenArtifacts" | "restoreArtifacts"
>;

/** Returns the RPCs of ArtifactsRestoreService for plain artifacts, and for taken ids of all rows. Both throw bad_request, RestoreArtifacts not_found as well. */
export function restoreArtifactsHandlers(
  deps: Pick<ArtifactsDeps, "db" | "runs" | "storageBackend">,
): ArtifactHandlers {
  const { db, runs, storageBackend } = deps;
  return {
    async findTakenArtifacts({ type, ids }, call) {
      const { orgId } = callerOf(call);
      if (!hasIds(type)) throw badRequest("the type is unknown", "type");
      requireRows(ids);
      if (!ids.every(isUuid)) throw badRequest("ids must be canonical UUIDs", "ids");
      return { ids: await db.readTenant(orgId, (tx) => findTakenIds(tx, orgId, type, ids)) };
    },

    async restoreArtifacts({ archiveId, artifacts }, call) {
      const caller = callerOf(call);
      const { orgId } = caller;
      requireRows(artifacts);
      const rows: RestoredArtifact[] = [];
      for (const artifact of artifacts) {
        const projectId = await runs.projectOf(caller, pathId(artifact.runId, "run"));
        rows.push(rowOf(artifact, projectId, storageBackend));
      }
      const kept = rows.filter(({ storage_backend }) => storage_backend !== "external");
      await db.withTenant(orgId, async (tx) => {
        const made = await insertRestoredArtifacts(tx, orgId, rows);
        const ids = new Set(made.map(({ id }) => id));
        const wanted = kept.filter(({ id }) => ids.has(id));
        await wantBytes(
          tx,
          orgId,
          archiveId,
          wanted.map(({ id, project_id, sha256, size_bytes }) => ({
            row_id: id,
            is_entry: false,
            project_id,
            sha256: sha256!,
            size_bytes: size_bytes!,
          })),
        );
        for (const runId of [...new Set(made.map((row) => row.runId))].toSorted()) {
          await countArtifacts(
            tx,
            orgId,
            runId,
            made.filter((row) => row.runId === runId).map(({ type }) => type),
          );
        }
        if (made.length > 0) {
          await addStorage(tx, orgId, { artifacts: made.length, unknownSizes: unknownSizesOf(made) });
        }
      });
      return {};
    },
  };
}

/** @throws bad_request for an artifact that is to be kept here and does not describe its bytes */
function rowOf(artifact: Artifact, projectId: string, backend: ArtifactsDeps["storageBackend"]): RestoredArtifact {
  const { id, sizeBytes, sha256, storageBackend } = artifact;
  const isExternal = storageBackend === "external";
  if (!isExternal && (sizeBytes === undefined || !/^[0-9a-f]{64}$/.test(sha256 ?? ""))) {
    throw badRequest("an artifact without an address needs its size and its hash", "artifacts");
  }
  return {
    id,
    run_id: artifact.runId,
    project_id: projectId,
    type: artifact.type,
    name: artifact.name,
    uri: isExternal ? artifact.uri : artifactUri(id),
    step: artifact.step,
    size_bytes: sizeBytes === undefined ? undefined : Number(sizeBytes),
    sha256,
    mime_type: artifact.mimeType,
    storage_backend: isExternal ? "external" : backend,
    metadata: utf8.decode(artifact.metadataJson),
    created_at: artifact.createdAt,
  };
}
