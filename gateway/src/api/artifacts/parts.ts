import { AppError, badRequest, isAppError } from "@tidemark/errors";
import type { Call } from "@tidemark/rpc";
import type { Clients } from "../../clients.ts";
import { arriving } from "../../gate/arrival.ts";
import { bodyTooLarge } from "../../gate/read-body.ts";
import type { HandlerContext, RouteInput, RouteReply } from "../../route.ts";
import { artifactWriters } from "../callers.ts";

/** Most bytes of one part: 5 GiB, as S3 has it. */
export const PART_BYTES_MAX = 5 * 1024 ** 3;

/**
 * PUT /api/upload-parts/{token}: the bytes of one part, whose address the upload named, as long as the caller who got it may upload. The client waits for the
 * store.
 */
export async function handlePutPart(
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
