import { AppError, badRequest, isAppError } from "@tidemark/errors";
import type { Call } from "@tidemark/rpc";
import type { Clients } from "../../clients.ts";
import { arriving } from "../../gate/arrival.ts";
import { bodyTooLarge } from "../../gate/read-body.ts";
import { route, type HandlerContext, type Route, type RouteInput, type RouteReply } from "../../route.ts";
import { artifactWriters } from "../callers.ts";
import { completedUploadSchema, completeUploadBody, handleCompleteUpload } from "./complete.ts";
import { CONTENTS_BYTES_MAX } from "./contents.ts";
import {
  abortedUploadSchema,
  abortUploadBody,
  beganUploadSchema,
  beginUploadBody,
  decodeAbortUpload,
  decodeBeginUpload,
  decodeRenewParts,
  encodeAbortUpload,
  encodeBeginUpload,
  encodeRenewParts,
  renewedPartsSchema,
  renewPartsBody,
} from "./uploads.ts";

/** Most bytes of one part: 5 GiB, as S3 has it. */
const PART_BYTES_MAX = 5 * 1024 ** 3;

/**
 * PUT /api/upload-parts/{token}: the bytes of one part, whose address the upload named, as long as the caller who got it may upload. The client waits for the
 * store.
 */
async function handlePutPart(
  { params }: RouteInput,
  clients: Clients,
  call: Call,
  { request, objects, actFor }: HandlerContext,
): Promise<RouteReply> {
  const { "content-length": length, "content-encoding": encoding = "identity" } = request.headers;
  const announced = length === undefined ? undefined : Number(length);
  if (announced !== undefined && announced > PART_BYTES_MAX) throw bodyTooLarge(PART_BYTES_MAX, "a part");
  const located = await clients.artifacts.locatePart({ token: params["token"]! }, call);
  const { orgId, projectId, callerKind: kind, credentialId } = located;
  await actFor({ orgId, projectId, kind, credentialId }, artifactWriters);
  const size = Number(located.sizeBytes);
  if (encoding.trim().toLowerCase() !== "identity") throw badRequest("a part must not have a content encoding");
  if (announced === undefined) throw badRequest(`the header Content-Length is required: ${size}`, "content-length");
  if (announced !== size) throw badRequest(`the part must have ${size} bytes`, "content-length");
  try {
    const { objectId, storeUploadId, partNumber } = located;
    const { etag } = await objects.putPart(
      objects.keyOf(orgId, objectId),
      storeUploadId,
      partNumber,
      arriving(request),
      {
        size,
      },
    );
    return { body: {}, headers: { etag: `"${etag}"` } };
  } catch (error) {
    // The upload ended while the part was on its way.
    const isGone = isAppError(error) && error.reason === "not_found";
    throw isGone ? new AppError("gone", "the upload has ended") : error;
  }
}

/** Uploads of versions. */
export const uploadsRoutes: readonly Route[] = [
  route({
    method: "POST",
    path: "/api/runs/{run_id}/artifact-uploads",
    tag: "artifact uploads",
    summary: "Begin a version of a collection",
    description:
      "Returns where to send each file of the manifest. A version that already exists, or has no bytes to send, is returned immediately.",
    callers: artifactWriters,
    rate: "general",
    isHeartbeat: true,
    idempotency: "optional",
    body: "required",
    bodyBytesMax: 4 * 1024 * 1024,
    exactNumbers: true,
    bareTokens: true,
    schemas: { body: beginUploadBody.schema, response: beganUploadSchema },
    statuses: [200, 400, 401, 402, 403, 404, 409],
    decode: decodeBeginUpload,
    rpc: (clients, request, call) => clients.artifacts.beginUpload(request, call),
    encode: encodeBeginUpload,
  }),
  route({
    method: "POST",
    path: "/api/artifact-uploads/{upload_session_id}/renew",
    tag: "artifact uploads",
    summary: "New addresses for parts of a file",
    callers: artifactWriters,
    rate: "general",
    idempotency: "none",
    body: "required",
    schemas: { body: renewPartsBody.schema, response: renewedPartsSchema },
    statuses: [200, 400, 401, 403, 404, 409, 410],
    decode: decodeRenewParts,
    rpc: (clients, request, call) => clients.artifacts.renewParts(request, call),
    encode: encodeRenewParts,
  }),
  {
    method: "POST",
    path: "/api/artifact-uploads/{upload_session_id}/complete",
    tag: "artifact uploads",
    summary: "Verify the files and make them a version",
    description:
      "Names every file of the upload. Verification that takes long goes on after a 503; the repeated call gets its result.",
    callers: artifactWriters,
    rate: "general",
    idempotency: "none",
    body: "required",
    streamed: "json",
    bodyBytesMax: CONTENTS_BYTES_MAX,
    schemas: { body: completeUploadBody.schema, response: completedUploadSchema },
    statuses: [200, 400, 401, 403, 404, 409, 410, 413],
    handle: handleCompleteUpload,
  },
  route({
    method: "POST",
    path: "/api/artifact-uploads/{upload_session_id}/abort",
    tag: "artifact uploads",
    summary: "Give an upload up",
    callers: artifactWriters,
    rate: "general",
    idempotency: "none",
    body: "optional",
    schemas: { body: abortUploadBody.schema, response: abortedUploadSchema },
    statuses: [200, 400, 401, 403, 404, 409],
    decode: decodeAbortUpload,
    rpc: (clients, request, call) => clients.artifacts.abortUpload(request, call),
    encode: encodeAbortUpload,
  }),
  {
    method: "PUT",
    path: "/api/upload-parts/{token}",
    tag: "artifact uploads",
    summary: "Send a part of a file",
    description:
      "An address that an upload named; the token in it is the credential, as long as that of the upload is valid. The bytes are sent as they are, with their Content-Length.",
    callers: { kind: "anyone" },
    rate: "none",
    idempotency: "none",
    streamed: "bytes",
    bodyBytesMax: PART_BYTES_MAX,
    schemas: { response: { type: "object" } },
    statuses: [200, 400, 401, 403, 404, 410, 413],
    handle: handlePutPart,
  },
];
