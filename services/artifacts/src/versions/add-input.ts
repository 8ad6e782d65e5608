import { badRequest, gone } from "@tidemark/errors";
import type { Tx } from "@tidemark/pg";
import { type Caller, callerOf, isUuid, pathId, throwFault } from "@tidemark/requests";
import type { ArtifactsDeps, ArtifactsHandlers } from "../deps.ts";
import { addEdge } from "./edges.sql.ts";
import { encodeVersion, requireAvailable, requireStoredVersion, VERSION } from "./get-version.ts";
import { resolveRef } from "./resolve-version.ts";
import { lockAvailable } from "./retention.sql.ts";
import type { VersionRow } from "./versions.sql.ts";

type Request = Parameters<ArtifactsHandlers["addInput"]>[0];

/**
 * ArtifactsService.AddInput: records once that a run uses a version. A reference without a project means the run's project.
 * @throws not_found, bad_request, gone for the id of a version that is not available
 */
export function addInput(deps: Pick<ArtifactsDeps, "db" | "runs" | "newId">): ArtifactsHandlers["addInput"] {
  return async (request, call) => {
    const caller = callerOf(call);
    const { orgId } = caller;
    const runId = pathId(request.runId, "run");
    const projectId = await deps.runs.projectOf(caller, runId);
    throwFault(request.bodyFault);
    return deps.db.withTenant(
      orgId,
      async (tx) => {
        const { id: versionId } = await findWanted(tx, caller, projectId, request);
        // A transaction that deletes it either waits for this one or is visible to it.
        if (!(await lockAvailable(tx, orgId, versionId))) throw gone(VERSION);
        const edge = await addEdge(tx, orgId, { id: deps.newId(), runId, projectId, versionId, direction: "input" });
        return { edge, version: encodeVersion(await requireStoredVersion(tx, orgId, versionId)) };
      },
      { plans: "walks" },
    );
  };
}

function findWanted(tx: Tx, caller: Caller, projectId: string, request: Request): Promise<VersionRow> {
  const { versionId, ref, type } = request;
  if ((versionId === undefined) === (ref === undefined)) {
    throw badRequest("one of artifact_version_id and ref is required");
  }
  if (ref !== undefined) return resolveRef(tx, caller, ref, { type, project: { id: projectId } });
  const id = versionId!.toLowerCase();
  if (!isUuid(id)) throw badRequest("artifact_version_id must be a UUID", "artifact_version_id");
  return requireAvailable(tx, caller, id);
}
