import { badRequest, notFound } from "@tidemark/errors";
import { callerOf, isUuid, pathId, throwFault } from "@tidemark/requests";
import type { ArtifactsDeps, ArtifactsHandlers } from "../deps.ts";
import { requireConfirmation } from "../versions/retention.rules.ts";
import { encodeVersion, requireStoredVersion, VERSION } from "../versions/get-version.ts";
import { lockCollection } from "../versions/retention.sql.ts";
import { readVersions } from "../versions/versions.sql.ts";
import { moveAliases, removeAlias, touchCollection } from "./aliases.sql.ts";
import { COLLECTION, requireCollection } from "./list-collections.ts";
import { ALIAS_SHAPE, RESERVED_ALIAS_SHAPE } from "@tidemark/limits";

/**
 * ArtifactsService.SetAlias: creates or moves an alias.
 * @throws not_found for the collection, bad_request, not_found unless the version is an available one of the collection
 */
export function setAlias({ db }: Pick<ArtifactsDeps, "db">): ArtifactsHandlers["setAlias"] {
  return (request, call) => {
    const caller = callerOf(call);
    const { orgId } = caller;
    const id = pathId(request.collectionId, COLLECTION);
    return db.withTenant(
      orgId,
      async (tx) => {
        await requireCollection(tx, caller, id);
        const { alias } = request;
        requireAlias(alias);
        throwFault(request.bodyFault);
        const versionId = request.versionId.toLowerCase();
        if (!isUuid(versionId)) throw badRequest("artifact_version_id must be a UUID", "artifact_version_id");
        requireConfirmation(request, alias, "the alias");
        await lockCollection(tx, orgId, id);
        const [version] = await readVersions(tx, orgId, [versionId]);
        if (version?.collectionId !== id || !version.available) throw notFound(VERSION);
        await moveAliases(tx, orgId, id, [alias], versionId);
        await touchCollection(tx, orgId, id);
        return { version: encodeVersion(await requireStoredVersion(tx, orgId, versionId)) };
      },
      { plans: "walks" },
    );
  };
}

/** ArtifactsService.DeleteAlias: returns whether the alias was there. @throws not_found for the collection, bad_request */
export function deleteAlias({ db }: Pick<ArtifactsDeps, "db">): ArtifactsHandlers["deleteAlias"] {
  return (request, call) => {
    const caller = callerOf(call);
    const { orgId } = caller;
    const id = pathId(request.collectionId, COLLECTION);
    return db.withTenant(
      orgId,
      async (tx) => {
        await requireCollection(tx, caller, id);
        const { alias } = request;
        requireAlias(alias);
        throwFault(request.bodyFault);
        requireConfirmation(request, alias, "the alias");
        await lockCollection(tx, orgId, id);
        const deleted = await removeAlias(tx, orgId, id, alias);
        if (deleted) await touchCollection(tx, orgId, id);
        return { deleted };
      },
      { plans: "walks" },
    );
  };
}

/** Requires a text that a client may use as an alias. @throws bad_request */
export function requireAlias(alias: string, field = "alias"): void {
  if (!ALIAS_SHAPE.test(alias)) {
    throw badRequest(`${field} must have 1 to 64 lower-case letters, digits, "_", "-" and "."`, field);
  }
  if (RESERVED_ALIAS_SHAPE.test(alias)) throw badRequest(`the alias ${alias} is reserved`, field);
}
