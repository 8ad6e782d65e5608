import { notFound } from "@tidemark/errors";
import { callerOf, pathId } from "@tidemark/requests";
import type { ArtifactsDeps, ArtifactsHandlers } from "../deps.ts";
import { findEntry } from "./entries.sql.ts";
import { requireAvailable } from "./require-version.ts";

const ENTRY = "artifact entry";

/** ArtifactsService.LocateEntry. @throws not_found, also for a reference; gone when the version is not available */
export function locateEntry({ db }: Pick<ArtifactsDeps, "db">): ArtifactsHandlers["locateEntry"] {
  return (request, call) => {
    const caller = callerOf(call);
    const id = pathId(request.entryId, ENTRY);
    return db.readTenant(
      caller.orgId,
      async (tx) => {
        const entry = await findEntry(tx, caller.orgId, id);
        if (entry === undefined || entry.referenceUri !== null) throw notFound(ENTRY);
        await requireAvailable(tx, caller, entry.versionId, ENTRY);
        const { objectId, sizeBytes, mimeType, path } = entry;
        if (objectId === null) throw notFound(ENTRY);
        return { objectId, sizeBytes: BigInt(sizeBytes!), mimeType, name: path };
      },
      { plans: "walks" },
    );
  };
}
