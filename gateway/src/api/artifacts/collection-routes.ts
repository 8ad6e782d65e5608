import type { MessageInitShape } from "@bufbuild/protobuf";
import { COLLECTION_TYPES, COLLECTIONS_PAGE_ROWS, VERSIONS_PAGE_ROWS } from "@tidemark/limits";
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
import { route, type Route, type RouteInput, type RouteReply } from "../../route.ts";
import { described, join, object, withDefault, withFault } from "../fields/field.ts";
import { queryText, searchText, uuid } from "../fields/text.ts";
import { pageQuery, readPage } from "../parameters.ts";
import { booleanSchema, objectSchema, requireMessage } from "../replies.ts";
import { artifactManagers, readCallers } from "../callers.ts";
import { confirmation, readConfirmation, requireAlias } from "./aliases.ts";
import { collectionJson, collectionSchema, pageJson, pageSchema, versionJson, versionSchema } from "./rows.ts";
import { encodeVersion } from "./versions.ts";

const collectionsPage = pageQuery(COLLECTIONS_PAGE_ROWS);
const filter = object({
  project: queryText({ description: "Name of a project." }),
  project_id: queryText({ description: "Id of a project. It goes before `project`." }),
  type: queryText({ description: COLLECTION_TYPES.join(", ") }),
  q: described(withDefault(searchText(), ""), "Part of the name, in either case."),
});

/** Query of GET /api/artifact-collections. */
const listCollectionsQuery = join(filter, collectionsPage);

/** GET /api/artifact-collections. @throws bad_request */
export function decodeListCollections({ query }: RouteInput): MessageInitShape<typeof ListCollectionsRequestSchema> {
  return { ...filter.read(query), page: readPage(collectionsPage, query) };
}

/** `{"collections": [row, …], limit, offset, total, has_more}` */
function encodeListCollections(response: ListCollectionsResponse): RouteReply {
  return { body: pageJson("collections", response.collections.map(collectionJson), response) };
}

/** GET /api/artifact-collections/{collection_id}. */
function decodeGetCollection({ params }: RouteInput): MessageInitShape<typeof GetCollectionRequestSchema> {
  return { collectionId: params["collection_id"]! };
}

/** `{"collection": row}` */
function encodeGetCollection({ collection }: GetCollectionResponse): RouteReply {
  return { body: { collection: collectionJson(requireMessage(collection)) } };
}

/** Query of GET /api/artifact-collections/{collection_id}/versions. */
const versionsPage = pageQuery(VERSIONS_PAGE_ROWS);

/** GET /api/artifact-collections/{collection_id}/versions. Faults of the query travel in the message. */
function decodeListVersions({ params, query }: RouteInput): MessageInitShape<typeof ListVersionsRequestSchema> {
  const { value, fault } = withFault(() => readPage(versionsPage, query));
  return { collectionId: params["collection_id"]!, page: value, queryFault: fault };
}

/** `{"versions": [row, …], limit, offset, total, has_more}` */
function encodeListVersions(response: ListVersionsResponse): RouteReply {
  return { body: pageJson("versions", response.versions.map(versionJson), response) };
}

/** Body of PUT /api/artifact-collections/{collection_id}/aliases/{alias}. */
const setAliasBody = join(object({ artifact_version_id: uuid() }), confirmation);

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
const deleteAliasBody = confirmation;

/** DELETE /api/artifact-collections/{collection_id}/aliases/{alias}. An alias that no version can have is unknown, not a fault. */
export function decodeDeleteAlias({ params, body }: RouteInput): MessageInitShape<typeof DeleteAliasRequestSchema> {
  const alias = params["alias"]!;
  const { value, fault } = withFault(() => readConfirmation(body, alias));
  return { collectionId: params["collection_id"]!, alias, ...value, bodyFault: fault };
}

/** `{"deleted": true}`; false when there was no such alias. */
function encodeDeleteAlias({ deleted }: DeleteAliasResponse): RouteReply {
  return { body: { deleted } };
}

/** Collections, and the aliases of their versions. */
export const collectionsRoutes: readonly Route[] = [
  route({
    method: "GET",
    path: "/api/artifact-collections",
    tag: "artifact collections",
    summary: "List collections, those changed last first",
    callers: readCallers,
    rate: "general",
    idempotency: "none",
    schemas: { query: listCollectionsQuery.schema, response: pageSchema("collections", collectionSchema) },
    statuses: [200, 400, 401, 403],
    decode: decodeListCollections,
    rpc: (clients, request, call) => clients.artifacts.listCollections(request, call),
    encode: encodeListCollections,
  }),
  route({
    method: "GET",
    path: "/api/artifact-collections/{collection_id}",
    tag: "artifact collections",
    summary: "Read a collection",
    callers: readCallers,
    rate: "general",
    idempotency: "none",
    schemas: { response: objectSchema({ collection: collectionSchema }) },
    statuses: [200, 401, 403, 404],
    decode: decodeGetCollection,
    rpc: (clients, request, call) => clients.artifacts.getCollection(request, call),
    encode: encodeGetCollection,
  }),
  route({
    method: "GET",
    path: "/api/artifact-collections/{collection_id}/versions",
    tag: "artifact collections",
    summary: "The available versions of a collection, newest first",
    callers: readCallers,
    rate: "general",
    idempotency: "none",
    schemas: { query: versionsPage.schema, response: pageSchema("versions", versionSchema) },
    statuses: [200, 400, 401, 403, 404],
    decode: decodeListVersions,
    rpc: (clients, request, call) => clients.artifacts.listVersions(request, call),
    encode: encodeListVersions,
  }),
  route({
    method: "PUT",
    path: "/api/artifact-collections/{collection_id}/aliases/{alias}",
    tag: "artifact collections",
    summary: "Point an alias at a version",
    description: "Moves the alias if there is one. `latest` and `v` with a number are taken.",
    callers: artifactManagers,
    rate: "general",
    idempotency: "none",
    body: "required",
    schemas: { body: setAliasBody.schema, response: objectSchema({ artifact_version: versionSchema }) },
    statuses: [200, 400, 401, 403, 404],
    decode: decodeSetAlias,
    rpc: (clients, request, call) => clients.artifacts.setAlias(request, call),
    encode: encodeVersion,
  }),
  route({
    method: "DELETE",
    path: "/api/artifact-collections/{collection_id}/aliases/{alias}",
    tag: "artifact collections",
    summary: "Take an alias away",
    callers: artifactManagers,
    rate: "general",
    idempotency: "none",
    body: "required",
    schemas: { body: deleteAliasBody.schema, response: objectSchema({ deleted: booleanSchema }) },
    statuses: [200, 400, 401, 403, 404],
    decode: decodeDeleteAlias,
    rpc: (clients, request, call) => clients.artifacts.deleteAlias(request, call),
    encode: encodeDeleteAlias,
  }),
];
