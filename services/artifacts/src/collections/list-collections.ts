import { COLLECTIONS_PAGE_ROWS, VERSIONS_PAGE_ROWS } from "@tidemark/limits";
import { notFound } from "@tidemark/errors";
import { type Caller, callerOf, canBeFound, canSee, isUuid, pathId, readPage, throwFault } from "@tidemark/requests";
import type { ArtifactsDeps, ArtifactsHandlers } from "../deps.ts";
import { encodeVersion } from "../versions/get-version.ts";
import { listAvailableVersions, readVersions } from "../versions/versions.sql.ts";
import {
  type CollectionRow,
  countCollections,
  findCollection,
  findOwnerOfCollection,
  findProjectByName,
  isLiveProject,
  listCollectionRows,
} from "./collections.sql.ts";
import type { MessageInitShape } from "@bufbuild/protobuf";
import type { Tx } from "@tidemark/pg";
import type { ArtifactCollectionSchema } from "@tidemark/proto/artifacts/v1/versions";

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
        const named = await findNamed(tx, orgId, request);
        const isEmpty = named === null || (named !== undefined && own !== undefined && own !== named);
        if (isEmpty || !canBeFound(request.q)) return { collections: [], total: 0n, page };
        const filter = { projectId: named ?? own, type: request.type, namePart: request.q };
        const rows = await listCollectionRows(tx, orgId, filter, { limit, offset });
        const total = await countCollections(tx, orgId, filter);
        return { collections: await encodeCollections(tx, orgId, rows), total: BigInt(total), page };
      },
      { plans: "walks" },
    );
  };
}

/** Returns the id of the project that a request names by its id or its name; undefined if it names none, null if there is no such project. */
async function findNamed(
  tx: Tx,
  orgId: string,
  { projectId, project }: { readonly projectId: string; readonly project: string },
): Promise<string | null | undefined> {
  const id = projectId.toLowerCase();
  if (id !== "") return isUuid(id) && (await isLiveProject(tx, orgId, id)) ? id : null;
  return project === "" ? undefined : ((await findProjectByName(tx, orgId, project)) ?? null);
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

const utf8 = new TextEncoder();

/** Encodes collections with their latest and best versions, which it reads in one statement. */
async function encodeCollections(
  tx: Tx,
  orgId: string,
  rows: readonly CollectionRow[],
): Promise<MessageInitShape<typeof ArtifactCollectionSchema>[]> {
  const shown = rows.flatMap(({ latestId, bestId }) => [latestId, bestId]).filter((id) => id !== null);
  const versions = await readVersions(tx, orgId, [...new Set(shown)]);
  const byId = new Map(versions.map((version) => [version.id, encodeVersion(version)]));
  return rows.map((row) => {
    const { latestId, bestId, metadata, versionsCount, retainedBytes, pendingDeleteBytes, description, ...same } = row;
    return {
      ...same,
      description: description ?? undefined,
      metadataJson: utf8.encode(metadata),
      versionsCount,
      retainedBytes: BigInt(retainedBytes),
      pendingDeleteBytes: BigInt(pendingDeleteBytes),
      latestVersion: byId.get(latestId ?? ""),
      bestVersion: byId.get(bestId ?? ""),
    };
  });
}

/** The name of a collection in errors. */
export const COLLECTION = "artifact collection";

/** @throws not_found unless the collection exists and the caller may see it */
export async function requireCollection(tx: Tx, caller: Caller, collectionId: string): Promise<void> {
  const owner = await findOwnerOfCollection(tx, caller.orgId, collectionId);
  if (owner === undefined || !canSee(caller, owner)) throw notFound(COLLECTION);
}
