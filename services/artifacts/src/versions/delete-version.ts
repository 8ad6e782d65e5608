import { AppError } from "@tidemark/errors";
import { callerOf, pathId, throwFault } from "@tidemark/requests";
import { removeAliasesOf } from "../collections/aliases.sql.ts";
import type { ArtifactsDeps, ArtifactsHandlers } from "../deps.ts";
import { requireConfirmation } from "./confirmation.rules.ts";
import { encodeVersion } from "./encode-version.ts";
import { lockCollection } from "./lock-version.sql.ts";
import { requireStoredVersion, requireVersion, VERSION } from "./require-version.ts";
import { retireVersion } from "./retire-version.sql.ts";

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
