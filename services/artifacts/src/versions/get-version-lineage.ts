import { LINEAGE_RUNS } from "@tidemark/limits";
import { callerOf, pathId, throwFault } from "@tidemark/requests";
import type { ArtifactsDeps, ArtifactsHandlers } from "../deps.ts";
import { listRunsOfVersion } from "./edges.sql.ts";
import { encodeVersion } from "./encode-version.ts";
import { requireAvailable, VERSION } from "./require-version.ts";

/** ArtifactsService.GetVersionLineage: the version and those runs around it that the caller may see. @throws not_found, gone, bad_request */
export function getVersionLineage({ db }: Pick<ArtifactsDeps, "db">): ArtifactsHandlers["getVersionLineage"] {
  return (request, call) => {
    const caller = callerOf(call);
    const id = pathId(request.versionId, VERSION);
    return db.readTenant(
      caller.orgId,
      async (tx) => {
        const version = await requireAvailable(tx, caller, id);
        throwFault(request.queryFault);
        const limit = Math.min(request.limit || LINEAGE_RUNS.max, LINEAGE_RUNS.max);
        const runs = await listRunsOfVersion(tx, caller.orgId, id, caller.projectId, limit + 1);
        return {
          version: encodeVersion(version),
          runs: runs.slice(0, limit),
          truncated: runs.length > limit,
          limit,
        };
      },
      { plans: "walks" },
    );
  };
}
