import { COLLECTIONS_PAGE_ROWS, VERSIONS_PAGE_ROWS } from "@tidemark/limits";
import { notFound } from "@tidemark/errors";
import { callerOf, canBeFound, canSee, pathId, readPage, throwFault } from "@tidemark/requests";
import type { ArtifactsDeps, ArtifactsHandlers } from "../deps.ts";
import { encodeVersion } from "../versions/encode-version.ts";
import { listAvailableVersions, readVersions } from "../versions/versions.sql.ts";
import { countCollections, findCollection, listCollectionRows } from "./collections.sql.ts";
import { encodeCollections } from "./encode-collection.ts";
import { findProjectByName } from "./named-collections.sql.ts";
import { COLLECTION } from "./require-collection.ts";

type Deps = Pick<ArtifactsDeps, "db">;

/** ArtifactsService.ListCollections. The list of a project that the caller may not see is empty, like the list of one that does not exist. */
export function listCollections({ db }: Deps): ArtifactsHandlers["listCollections"] {
  return (request, call) => {
    const { orgId, projectId: own } = callerOf(call);
    const { limit, offset } = readPage(request.page, COLLECTIONS_PAGE_ROWS);
    const page = { limit, offset: BigInt(offset) };
    return db.readTenant(
      orgId,
      async (tx) => {
        const named = request.project === "" ? own : await findProjectByName(tx, orgId, request.project);
        const isEmpty = request.project !== "" && (named === undefined || (own !== undefined && own !== named));
        if (isEmpty || !canBeFound(request.q)) return { collections: [], total: 0n, page };
        const filter = { projectId: named, type: request.type, namePart: request.q };
        const rows = await listCollectionRows(tx, orgId, filter, { limit, offset });
        const total = await countCollections(tx, orgId, filter);
        return { collections: await encodeCollections(tx, orgId, rows), total: BigInt(total), page };
      },
      { plans: "walks" },
    );
  };
}

/** ArtifactsService.GetCollection. @throws not_found */
export function getCollection({ db }: Deps): ArtifactsHandlers["getCollection"] {
  return (request, call) => {
    const caller = callerOf(call);
    const id = pathId(request.collectionId, COLLECTION);
    return db.readTenant(
      caller.orgId,
      async (tx) => {
        const row = await findCollection(tx, caller.orgId, id);
        if (row === undefined || !canSee(caller, row)) throw notFound(COLLECTION);
        const [collection] = await encodeCollections(tx, caller.orgId, [row]);
        return { collection };
      },
      { plans: "walks" },
    );
  };
}

/** ArtifactsService.ListVersions. @throws not_found, bad_request */
export function listVersions({ db }: Deps): ArtifactsHandlers["listVersions"] {
  return (request, call) => {
    const caller = callerOf(call);
    const { orgId } = caller;
    const id = pathId(request.collectionId, COLLECTION);
    return db.readTenant(
      orgId,
      async (tx) => {
        const collection = await findCollection(tx, orgId, id);
        if (collection === undefined || !canSee(caller, collection)) throw notFound(COLLECTION);
        throwFault(request.queryFault);
        const { limit, offset } = readPage(request.page, VERSIONS_PAGE_ROWS);
        const ids = await listAvailableVersions(tx, orgId, id, { limit, offset });
        const versions = await readVersions(tx, orgId, ids);
        return {
          versions: versions.map(encodeVersion),
          total: BigInt(collection.versionsCount),
          page: { limit, offset: BigInt(offset) },
        };
      },
      { plans: "walks" },
    );
  };
}
