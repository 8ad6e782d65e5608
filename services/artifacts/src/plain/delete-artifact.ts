import { notFound } from "@tidemark/errors";
import type { Tx } from "@tidemark/pg";
import { callerOf, pathId } from "@tidemark/requests";
import type { ArtifactsDeps, ArtifactsHandlers } from "../deps.ts";
import { releaseObjects } from "../objects/objects.sql.ts";
import { addStorage } from "../storage/storage.sql.ts";
import { unknownSizesOf } from "./artifact-input.rules.ts";
import { type ArtifactRow, countArtifact, takeArtifact } from "./artifacts.sql.ts";
import { ARTIFACT, encodeArtifact } from "./list-artifacts.ts";

/** ArtifactsService.DeleteArtifact: its bytes count as pending until the store has removed them. @throws not_found, also for a repeat */
export function deleteArtifact({ db }: Pick<ArtifactsDeps, "db">): ArtifactsHandlers["deleteArtifact"] {
  return async (request, call) => {
    const { orgId, projectId } = callerOf(call);
    const id = pathId(request.artifactId, ARTIFACT);
    const row = await db.withTenant(orgId, async (tx) => {
      const taken = await takeArtifact(tx, orgId, id, projectId);
      if (taken === undefined) throw notFound(ARTIFACT);
      await forgetArtifact(tx, taken);
      return taken;
    });
    return { artifact: encodeArtifact(row) };
  };
}

/** Updates objects and counters for an artifact that the transaction has deleted. */
export async function forgetArtifact(tx: Tx, artifact: ArtifactRow): Promise<void> {
  const { orgId, objectId } = artifact;
  const bytes = objectId === null ? 0 : artifact.sizeBytes!;
  const settled = objectId === null ? 0 : await releaseObjects(tx, orgId, [{ objectId, owedBytes: bytes }]);
  await countArtifact(tx, orgId, artifact, -1);
  await addStorage(tx, orgId, {
    artifacts: -1,
    unknownSizes: -unknownSizesOf([artifact]),
    artifactBytes: -bytes,
    pendingDeleteBytes: bytes - settled,
  });
}
