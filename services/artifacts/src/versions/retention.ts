import { callerOf, pathId, throwFault } from "@tidemark/requests";
import type { ArtifactsDeps, ArtifactsHandlers } from "../deps.ts";
import { readRetention, requireConfirmation } from "./retention.rules.ts";
import { encodeVersion, requireStoredVersion, requireVersion, VERSION } from "./get-version.ts";
import { lockCollection, retireVersion, writeRetention } from "./retention.sql.ts";
import { AppError } from "@tidemark/errors";
import { removeAliasesOf } from "../collections/aliases.sql.ts";

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

/**
 * ArtifactsService.DeleteVersion. Its bytes are released after the grace period. A repeat answers with the unchanged version and changes
 * nothing.
 * @throws not_found, bad_request, conflict when aliases point at it and are not to be deleted
 */
export function deleteVersion(deps: Pick<ArtifactsDeps, "db" | "graceDays">): ArtifactsHandlers["deleteVersion"] {
  return (request, call) => {
    const caller = callerOf(call);
    const { orgId } = caller;
    const id = pathId(request.versionId, VERSION);
    return deps.db.withTenant(
      orgId,
      async (tx) => {
        const { collectionId } = await requireVersion(tx, caller, id);
        throwFault(request.bodyFault);
        requireConfirmation({ ...request, confirm: request.confirm.toLowerCase() }, id, "the id of the version");
        await lockCollection(tx, orgId, collectionId);
        const locked = await requireStoredVersion(tx, orgId, id);
        if (locked.state === "active") {
          if (locked.aliases.length > 0 && !request.deleteAliases) {
            throw new AppError("conflict", "aliases point at this version; set delete_aliases to delete them with it");
          }
          await removeAliasesOf(tx, orgId, id);
          const { graceDays } = deps;
          await retireVersion(tx, orgId, { collectionId, versionId: id, graceDays, reason: request.reason });
        }
        return { version: encodeVersion(await requireStoredVersion(tx, orgId, id)) };
      },
      { plans: "walks" },
    );
  };
}
