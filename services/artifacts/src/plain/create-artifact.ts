import { ROW_BYTES } from "@tidemark/plans";
import { callerOf, pathId, refuseUnpaid, throwFault } from "@tidemark/requests";
import type { ArtifactsDeps, ArtifactsHandlers } from "../deps.ts";
import { addStorage } from "../storage/storage.sql.ts";
import { readFacts, readSize, requireText, unknownSizesOf } from "./artifact-input.rules.ts";
import { countArtifact, insertArtifact } from "./artifacts.sql.ts";
import { encodeArtifact } from "./encode-artifact.ts";

/** ArtifactsService.CreateArtifact: an artifact whose bytes are elsewhere. @throws not_found, bad_request, payment_required, plan_limit_exceeded */
export function createArtifact(
  deps: Pick<ArtifactsDeps, "db" | "runs" | "newId" | "gate">,
): ArtifactsHandlers["createArtifact"] {
  return async (request, call) => {
    const caller = callerOf(call);
    const { orgId } = caller;
    const runId = pathId(request.runId, "run");
    const projectId = await deps.runs.projectOf(caller, runId);
    throwFault(request.bodyFault);
    const { metadataFingerprint: _, ...facts } = await readFacts(request.artifact);
    const artifact = {
      ...facts,
      id: deps.newId(),
      runId,
      projectId,
      uri: requireText(request.uri, "uri"),
      sizeBytes: readSize(request.sizeBytes),
      sha256: request.sha256 ?? null,
      storageBackend: "external" as const,
      objectId: null,
    };
    refuseUnpaid(caller);
    await deps.gate.admit(caller, ROW_BYTES.artifacts);
    const row = await deps.db.withTenant(orgId, async (tx) => {
      const made = await insertArtifact(tx, orgId, artifact);
      await countArtifact(tx, orgId, made, 1);
      await addStorage(tx, orgId, { artifacts: 1, unknownSizes: unknownSizesOf([made]) });
      return made;
    });
    return { artifact: encodeArtifact(row) };
  };
}
