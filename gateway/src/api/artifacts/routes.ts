import type { StoreArtifactResponse } from "@tidemark/proto/artifacts/v1/artifacts";
import type { Call } from "@tidemark/rpc";
import type { Clients } from "../../clients.ts";
import { BODY_BYTES_MAX } from "../../gate/read-body.ts";
import { route, type HandlerContext, type Route, type RouteInput, type RouteReply, type Schema } from "../../route.ts";
import { join, object, readField, withFault } from "../fields/field.ts";
import { pathRunId } from "../runs/read.ts";
import { artifactManagers, artifactWriters, readCallers } from "../callers.ts";
import { booleanSchema, listSchema, objectSchema, textOrNullSchema } from "../replies.ts";
import { contentField, CONTENTS_BYTES_MAX, receiveObjects, writtenObject } from "./contents.ts";
import {
  artifactFacts,
  createArtifactBody,
  decodeCreateArtifact,
  decodeDeleteArtifact,
  decodeListArtifacts,
  decodeLocateArtifact,
  encodeArtifact,
  encodeDeleteArtifact,
  encodeListArtifacts,
  encodeLocation,
  listArtifactsQuery,
  readArtifactFacts,
} from "./plain.ts";
import { artifactSchema } from "./rows.ts";
import { collectionsRoutes } from "./collection-routes.ts";
import { uploadsRoutes } from "./upload-routes.ts";
import { versionsRoutes } from "./version-routes.ts";

/** Body of POST /api/runs/{run_id}/artifacts/upload. Size and hash that a client sends are ignored. */
const storeArtifactBody: { readonly schema: Schema } = join(
  artifactFacts,
  object({ content_base64: contentField([]) }),
);

/**
 * POST /api/runs/{run_id}/artifacts/upload. The content goes to the store while the body arrives. Faults of fields travel in the message, because a missing
 * run takes precedence.
 */
async function handleStoreArtifact(
  input: RouteInput,
  clients: Clients,
  _call: Call,
  context: HandlerContext,
): Promise<RouteReply> {
  const runId = pathRunId(input);
  const { body, contents } = await receiveObjects(
    input,
    clients,
    context,
    { case: "runId", value: runId },
    { path: ["content_base64"], restBytesMax: BODY_BYTES_MAX },
  );
  const { value, fault } = withFault(() => ({
    artifact: readArtifactFacts(body),
    content: readField(contentField(contents.all), body, "content_base64"),
  }));
  if (value === undefined) {
    await contents.abandon();
    return encodeStored(await clients.artifacts.storeArtifact({ runId, bodyFault: fault }, await context.newCall()));
  }
  await contents.finish();
  const request = {
    runId,
    artifact: value.artifact,
    object: writtenObject(value.content),
    idempotencyKey: input.idempotencyKey ?? "",
  };
  return encodeStored(await clients.artifacts.storeArtifact(request, await context.newCall()));
}

/** `{"artifact": row}` */
function encodeStored(response: StoreArtifactResponse): RouteReply {
  return { ...encodeArtifact(response), replayed: response.replayed };
}

/** Files of runs. */
const plainArtifactsRoutes: readonly Route[] = [
  route({
    method: "POST",
    path: "/api/runs/{run_id}/artifacts",
    tag: "artifacts",
    summary: "Record a file that is elsewhere",
    callers: artifactWriters,
    rate: "ingest",
    isHeartbeat: true,
    idempotency: "none",
    body: "required",
    exactNumbers: true,
    bareTokens: true,
    schemas: { body: createArtifactBody.schema, response: objectSchema({ artifact: artifactSchema }) },
    statuses: [200, 400, 401, 402, 403, 404],
    decode: decodeCreateArtifact,
    rpc: (clients, request, call) => clients.artifacts.createArtifact(request, call),
    encode: encodeArtifact,
  }),
  {
    method: "POST",
    path: "/api/runs/{run_id}/artifacts/upload",
    tag: "artifacts",
    summary: "Store a file",
    description: "Size and SHA-256 are computed from the bytes.",
    callers: artifactWriters,
    rate: "ingest",
    isHeartbeat: true,
    idempotency: "optional",
    body: "required",
    streamed: "json",
    bodyBytesMax: CONTENTS_BYTES_MAX,
    schemas: { body: storeArtifactBody.schema, response: objectSchema({ artifact: artifactSchema }) },
    statuses: [200, 400, 401, 402, 403, 404, 409, 413],
    handle: handleStoreArtifact,
  },
  route({
    method: "GET",
    path: "/api/runs/{run_id}/artifacts",
    tag: "artifacts",
    summary: "The artifacts of a run, newest first",
    description:
      "Entries of versions are not among them. A page also ends after 16 MiB; `truncated` says that more artifacts follow, from `next_cursor` on.",
    callers: readCallers,
    rate: "general",
    idempotency: "none",
    schemas: {
      query: listArtifactsQuery.schema,
      response: objectSchema({
        artifacts: listSchema(artifactSchema),
        next_cursor: textOrNullSchema,
        truncated: booleanSchema,
      }),
    },
    statuses: [200, 400, 401, 403, 404],
    decode: decodeListArtifacts,
    rpc: (clients, request, call) => clients.artifacts.listArtifacts(request, call),
    encode: encodeListArtifacts,
  }),
  route({
    method: "GET",
    path: "/api/artifacts/{artifact_id}/download",
    tag: "artifacts",
    summary: "Download a file",
    callers: readCallers,
    rate: "general",
    idempotency: "none",
    schemas: { response: {}, responseType: "application/octet-stream" },
    statuses: [200, 206, 401, 403, 404, 416],
    decode: decodeLocateArtifact,
    rpc: (clients, request, call) => clients.artifacts.locateArtifact(request, call),
    encode: encodeLocation,
  }),
  route({
    method: "DELETE",
    path: "/api/artifacts/{artifact_id}",
    tag: "artifacts",
    summary: "Delete an artifact with its bytes",
    callers: artifactManagers,
    rate: "general",
    idempotency: "none",
    schemas: { response: objectSchema({ deleted: booleanSchema, artifact: artifactSchema }) },
    statuses: [200, 401, 403, 404],
    decode: decodeDeleteArtifact,
    rpc: (clients, request, call) => clients.artifacts.deleteArtifact(request, call),
    encode: encodeDeleteArtifact,
  }),
];

/** Artifacts: files of runs, and versions of collections. */
export const artifactsRoutes: readonly Route[] = [
  ...plainArtifactsRoutes,
  ...uploadsRoutes,
  ...collectionsRoutes,
  ...versionsRoutes,
];
