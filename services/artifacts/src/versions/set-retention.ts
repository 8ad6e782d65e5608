import { callerOf, pathId, throwFault } from "@tidemark/requests";
import type { ArtifactsDeps, ArtifactsHandlers } from "../deps.ts";
import { requireConfirmation } from "./confirmation.rules.ts";
import { encodeVersion } from "./encode-version.ts";
import { requireStoredVersion, requireVersion, VERSION } from "./require-version.ts";
import { readRetention } from "./retention.rules.ts";
import { writeRetention } from "./set-retention.sql.ts";

/**
 * ArtifactsService.SetRetention, also of a version that is not available: an expired one becomes available again if it is given more time
 * before the sweeper has run; a deleted one stays deleted.
 * @throws not_found, bad_request
 */
export function setRetention({ db }: Pick<ArtifactsDeps, "db">): ArtifactsHandlers["setRetention"] {
  return (request, call) => {
    const caller = callerOf(call);
    const id = pathId(request.versionId, VERSION);
    return db.withTenant(
      caller.orgId,
      async (tx) => {
        await requireVersion(tx, caller, id);
        throwFault(request.bodyFault);
        const retention = readRetention(request.retentionMode, request.ttlDays);
        requireConfirmation({ ...request, confirm: request.confirm.toLowerCase() }, id, "the id of the version");
        await writeRetention(tx, caller.orgId, id, retention, request.reason);
        return { version: encodeVersion(await requireStoredVersion(tx, caller.orgId, id)) };
      },
      { plans: "walks" },
    );
  };
}
