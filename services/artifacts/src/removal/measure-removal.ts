import { callerOf, readRemovalScope } from "@tidemark/requests";
import type { ArtifactsDeps, ArtifactsHandlers } from "../deps.ts";
import { measureRemovalOf } from "./removal.sql.ts";

/** ArtifactsService.MeasureRemoval, at one moment. @throws not_found */
export function measureRemoval(deps: Pick<ArtifactsDeps, "db" | "runs">): ArtifactsHandlers["measureRemoval"] {
  return async (request, call) => {
    const caller = callerOf(call);
    const scope = await readRemovalScope(deps.runs, caller, request);
    return deps.db.readTenant(caller.orgId, (tx) => measureRemovalOf(tx, caller.orgId, scope), { plans: "walks" });
  };
}
