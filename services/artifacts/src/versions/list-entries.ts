import type { MessageInitShape } from "@bufbuild/protobuf";
import { VERSIONS_PAGE_ROWS } from "@tidemark/limits";
import type { ArtifactEntrySchema } from "@tidemark/proto/artifacts/v1/versions";
import { callerOf, pathId, readPage, throwFault } from "@tidemark/requests";
import type { ArtifactsDeps, ArtifactsHandlers } from "../deps.ts";
import { countEntries, type EntryRow, findEntry, listEntryRows } from "./entries.sql.ts";
import { requireAvailable, VERSION } from "./get-version.ts";
import { notFound } from "@tidemark/errors";

/** ArtifactsService.ListEntries. @throws not_found, gone, bad_request */
export function listEntries(deps: Pick<ArtifactsDeps, "db" | "storageBackend">): ArtifactsHandlers["listEntries"] {
  return (request, call) => {
    const caller = callerOf(call);
    const id = pathId(request.versionId, VERSION);
    return deps.db.readTenant(
      caller.orgId,
      async (tx) => {
        const version = await requireAvailable(tx, caller, id);
        throwFault(request.queryFault);
        const { limit, offset } = readPage(request.page, VERSIONS_PAGE_ROWS);
        const { pathPrefix: prefix } = request;
        const rows = await listEntryRows(tx, caller.orgId, id, { prefix, limit, offset });
        const total = await countEntries(tx, caller.orgId, id, prefix);
        return {
          entries: rows.map((row) => encodeEntry(row, version.createdAt, deps.storageBackend)),
          total: BigInt(total),
          page: { limit, offset: BigInt(offset) },
        };
      },
      { plans: "walks" },
    );
  };
}

/** Encodes an entry of a version that was made at `createdAt`. */
export function encodeEntry(
  row: EntryRow,
  createdAt: string,
  kept: ArtifactsDeps["storageBackend"],
): MessageInitShape<typeof ArtifactEntrySchema> {
  const { objectId, sizeBytes, sha256, referenceUri, ...same } = row;
  return {
    ...same,
    sizeBytes: sizeBytes === null ? undefined : BigInt(sizeBytes),
    sha256: sha256 ?? undefined,
    referenceUri: referenceUri ?? undefined,
    storageBackend: referenceUri === null ? kept : "external",
    downloadable: objectId !== null,
    createdAt,
  };
}

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
