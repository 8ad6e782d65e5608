import type { MessageInitShape } from "@bufbuild/protobuf";
import { COLLECTIONS_PAGE_ROWS, COLLECTION_TYPES, VERSIONS_PAGE_ROWS } from "@tidemark/limits";
import type {
  DeleteAliasRequestSchema,
  DeleteAliasResponse,
  GetCollectionRequestSchema,
  GetCollectionResponse,
  ListCollectionsRequestSchema,
  ListCollectionsResponse,
  ListVersionsRequestSchema,
  ListVersionsResponse,
  SetAliasRequestSchema,
} from "@tidemark/proto/artifacts/v1/versions";
import type { RouteInput, RouteReply } from "../../route.ts";
import { described, join, object, withDefault, withFault } from "../fields/field.ts";
import { queryText, searchText, uuid } from "../fields/text.ts";
import { pageQuery, readPage } from "../page.ts";
import { requireMessage } from "../replies.ts";
import { requireAlias } from "./aliases.ts";
import { confirmation, readConfirmation } from "./confirmed.ts";
import { pageJson } from "./pages.ts";
import { collectionJson, versionJson } from "./rows.ts";

const collectionsPage = pageQuery(COLLECTIONS_PAGE_ROWS);
const filter = object({
  project: queryText({ description: "Name of a project." }),
  type: queryText({ description: COLLECTION_TYPES.join(", ") }),
  q: described(withDefault(searchText(), ""), "Part of the name, in either case."),
});

/** Query of GET /api/artifact-collections. */
export const listCollectionsQuery = join(filter, collectionsPage);

/** GET /api/artifact-collections. @throws bad_request */
export function decodeListCollections({ query }: RouteInput): MessageInitShape<typeof ListCollectionsRequestSchema> {
  return { ...filter.read(query), page: readPage(collectionsPage, query) };
}

/** `{"collections": [row, …], limit, offset, total, has_more}` */
export function encodeListCollections(response: ListCollectionsResponse): RouteReply {
  return { body: pageJson("collections", response.collections.map(collectionJson), response) };
}

/** GET /api/artifact-collections/{collection_id}. */
export function decodeGetCollection({ params }: RouteInput): MessageInitShape<typeof GetCollectionRequestSchema> {
  return { collectionId: params["collection_id"]! };
}

/** `{"collection": row}` */
export function encodeGetCollection({ collection }: GetCollectionResponse): RouteReply {
  return { body: { collection: collectionJson(requireMessage(collection)) } };
}

/** Query of GET /api/artifact-collections/{collection_id}/versions. */
export const versionsPage = pageQuery(VERSIONS_PAGE_ROWS);

/** GET /api/artifact-collections/{collection_id}/versions. Faults of the query travel in the message. */
export function decodeListVersions({ params, query }: RouteInput): MessageInitShape<typeof ListVersionsRequestSchema> {
  const { value, fault } = withFault(() => readPage(versionsPage, query));
  return { collectionId: params["collection_id"]!, page: value, queryFault: fault };
}

/** `{"versions": [row, …], limit, offset, total, has_more}` */
export function encodeListVersions(response: ListVersionsResponse): RouteReply {
  return { body: pageJson("versions", response.versions.map(versionJson), response) };
}

/** Body of PUT /api/artifact-collections/{collection_id}/aliases/{alias}. */
export const setAliasBody = join(object({ artifact_version_id: uuid() }), confirmation);

/** PUT /api/artifact-collections/{collection_id}/aliases/{alias}. Faults travel in the message, because a missing collection takes precedence. */
export function decodeSetAlias({ params, body }: RouteInput): MessageInitShape<typeof SetAliasRequestSchema> {
  const alias = params["alias"]!;
  const base = { collectionId: params["collection_id"]!, alias };
  const { value, fault } = withFault(() => {
    requireAlias(alias, "alias");
    const { artifactVersionId } = setAliasBody.read(body);
    return { versionId: artifactVersionId, ...readConfirmation(body, alias) };
  });
  return { ...base, ...value, bodyFault: fault };
}

/** Body of DELETE /api/artifact-collections/{collection_id}/aliases/{alias}. */
export const deleteAliasBody = confirmation;

/** DELETE /api/artifact-collections/{collection_id}/aliases/{alias}. An alias that no version can have is unknown, not a fault. */
export function decodeDeleteAlias({ params, body }: RouteInput): MessageInitShape<typeof DeleteAliasRequestSchema> {
  const alias = params["alias"]!;
  const { value, fault } = withFault(() => readConfirmation(body, alias));
  return { collectionId: params["collection_id"]!, alias, ...value, bodyFault: fault };
}

/** `{"deleted": true}`; false when there was no such alias. */
export function encodeDeleteAlias({ deleted }: DeleteAliasResponse): RouteReply {
  return { body: { deleted } };
}
