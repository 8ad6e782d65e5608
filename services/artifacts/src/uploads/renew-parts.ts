import { badRequest, notFound } from "@tidemark/errors";
import { PARTS_PER_ANSWER_MAX } from "@tidemark/limits";
import { callerOf, pathId, throwFault } from "@tidemark/requests";
import type { ArtifactsDeps, ArtifactsHandlers } from "../deps.ts";
import { encodeSession } from "./encode-session.ts";
import { openStoreUploads } from "./open-store-uploads.ts";
import { requireUpload, requireUploading, UPLOAD } from "./require-upload.ts";

/**
 * Makes new addresses for parts of a file (API specification, POST /api/artifact-uploads/{upload_session_id}/renew). This does not extend the
 * life of the upload.
 * @throws not_found, bad_request, conflict, gone, service_unavailable
 */
export function renewParts(deps: ArtifactsDeps): ArtifactsHandlers["renewParts"] {
  const { db, addresses } = deps;
  return async (request, call) => {
    const caller = callerOf(call);
    const sessionId = pathId(request.uploadSessionId, UPLOAD);
    const session = await db.withTenant(caller.orgId, (tx) => requireUpload(tx, caller, sessionId));
    throwFault(request.bodyFault);
    const { startPartNumber: first, partCount: count } = request;
    if (first < 1) throw badRequest("start_part_number must be at least 1", "start_part_number");
    if (count < 1 || count > PARTS_PER_ANSWER_MAX) {
      throw badRequest(`part_count must be a whole number from 1 to ${PARTS_PER_ANSWER_MAX}`, "part_count");
    }
    requireUploading(session);
    const files = await openStoreUploads(deps, session);
    const file = files.find(({ id }) => id === request.entryId.toLowerCase());
    if (file === undefined) throw notFound("upload file");
    const holder = { baseUrl: request.baseUrl, identity: call.identity! };
    const isInline = file.uploadKind === "inline";
    if (!isInline && first + count - 1 > file.partCount) {
      throw badRequest(`the file has ${file.partCount} parts`, "part_count");
    }
    return {
      session: encodeSession(session),
      entryId: file.id,
      parts: isInline ? [] : await addresses(session, file, { first, count }, holder),
    };
  };
}
