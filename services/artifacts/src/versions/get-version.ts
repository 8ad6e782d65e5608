import { callerOf, pathId } from "@tidemark/requests";
import type { ArtifactsDeps, ArtifactsHandlers } from "../deps.ts";
import { encodeVersion } from "./encode-version.ts";
import { requireAvailable, VERSION } from "./require-version.ts";

/** ArtifactsService.GetVersion. @throws not_found, gone */
export function getVersion({ db }: Pick<ArtifactsDeps, "db">): ArtifactsHandlers["getVersion"] {
  return async (request, call) => {
    const caller = callerOf(call);
    const id = pathId(request.versionId, VERSION);
    const version = await db.readTenant(caller.orgId, (tx) => requireAvailable(tx, caller, id), { plans: "walks" });
    return { version: encodeVersion(version) };
  };
}
