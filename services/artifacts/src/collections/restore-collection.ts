import { badRequest, notFound } from "@tidemark/errors";
import type { ArtifactsRestoreService } from "@tidemark/proto/artifacts/v1/restore";
import { callerOf, canSee, isUuid, pathId } from "@tidemark/requests";
import type { Handlers } from "@tidemark/rpc";
import type { ArtifactsDeps } from "../deps.ts";
import { findTakenIds } from "../plain/archived-artifacts.sql.ts";
import { addStorage } from "../storage/storage.sql.ts";
import { restoreCollectionRow } from "./restored-collections.sql.ts";

const utf8 = new TextDecoder();

/** ArtifactsRestoreService.RestoreCollection. @throws bad_request, not_found */
export function restoreCollectionHandler({
  db,
}: Pick<ArtifactsDeps, "db">): Handlers<(typeof ArtifactsRestoreService)["method"]>["restoreCollection"] {
  return async ({ collection, spareId }, call) => {
    const caller = callerOf(call);
    const { orgId } = caller;
    if (collection === undefined || !isUuid(collection.id) || !isUuid(spareId)) {
      throw badRequest("a collection and its ids are required", "collection");
    }
    const projectId = pathId(collection.projectId, "project");
    if (!canSee(caller, { orgId, projectId })) throw notFound("project");
    const { id, type, name, description = null, metadataJson, nextIndex, createdAt, updatedAt } = collection;
    return db.withTenant(orgId, async (tx) => {
      const [taken] = await findTakenIds(tx, orgId, "collection", [id]);
      const metadata = utf8.decode(metadataJson);
      const row = { id: taken === undefined ? id : spareId, projectId, type, name, description, metadata };
      const found = await restoreCollectionRow(tx, orgId, { ...row, nextIndex, createdAt, updatedAt });
      if (found.isNew) await addStorage(tx, orgId, { collections: 1 });
      return { id: found.id };
    });
  };
}
