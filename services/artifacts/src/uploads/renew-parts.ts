import type { MessageInitShape } from "@bufbuild/protobuf";
import { AppError, badRequest, gone, notFound } from "@tidemark/errors";
import { PARTS_PER_ANSWER_MAX } from "@tidemark/limits";
import type { UploadSessionSchema } from "@tidemark/proto/artifacts/v1/uploads";
import { callerOf, canSee, pathId, throwFault, type Caller } from "@tidemark/requests";
import type { ArtifactsDeps, ArtifactsHandlers } from "../deps.ts";
import { openStoreUploads } from "./part-addresses.ts";
import { readPartToken } from "./part-token.rules.ts";
import { findUploadFile, type UploadSessionRow } from "./sessions.sql.ts";
import { findVisibleUpload, lockVisibleUpload } from "./uploads.sql.ts";
import { partBytesOf } from "./upload-plan.rules.ts";
import type { Tx } from "@tidemark/pg";

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

/**
 * Returns the part and the object that a signed address of this installation stands for. The call has no identity: the token is the credential.
 * @throws not_found for a token that was not issued here or whose run is deleted, gone for one that has expired, conflict when the upload no longer takes parts
 */
export function locatePart({ db, uploadSecret, now }: ArtifactsDeps): ArtifactsHandlers["locatePart"] {
  return async ({ token }) => {
    const part = readPartToken(await uploadSecret(), token);
    if (part === undefined) throw notFound("upload part");
    if (part.expiresAt * 1000 < now().getTime()) throw gone("upload part");
    const { orgId, sessionId, fileId, partNumber, callerKind, credentialId } = part;
    const [session, file] = await db.withTenant(orgId, async (tx) => [
      await findVisibleUpload(tx, orgId, sessionId),
      await findUploadFile(tx, orgId, sessionId, fileId),
    ]);
    if (session === undefined) throw notFound("upload part");
    if (session.state !== "uploading" || file === undefined) {
      throw new AppError("conflict", "the upload takes no parts any more");
    }
    return {
      orgId,
      projectId: session.projectId,
      callerKind,
      credentialId,
      objectId: file.objectId!,
      storeUploadId: file.storeUploadId!,
      partNumber,
      sizeBytes: BigInt(
        partBytesOf({ sizeBytes: file.sizeBytes!, partCount: file.partCount }, session.partSizeBytes, partNumber),
      ),
    };
  };
}

/** The name of an upload in errors. */
export const UPLOAD = "upload session";

/** Returns an upload that the caller may see, of a run that is not deleted. @throws not_found */
export async function requireUpload(tx: Tx, caller: Caller, sessionId: string): Promise<UploadSessionRow> {
  return seen(caller, await findVisibleUpload(tx, caller.orgId, sessionId));
}

/** Returns an upload that the caller may see, and locks it until the end of the transaction. @throws not_found */
export async function lockSeenUpload(tx: Tx, caller: Caller, sessionId: string): Promise<UploadSessionRow> {
  return seen(caller, await lockVisibleUpload(tx, caller.orgId, sessionId));
}

function seen(caller: Caller, session: UploadSessionRow | undefined): UploadSessionRow {
  if (session === undefined || !canSee(caller, session)) throw notFound(UPLOAD);
  return session;
}

/** Requires an upload that takes parts. @throws conflict when it has ended or is being completed, gone when it has expired */
export function requireUploading({ state, hasExpired }: UploadSessionRow): void {
  if (state === "completing" || state === "provider_completed") {
    throw new AppError("conflict", "the upload is being completed");
  }
  if (state !== "uploading") throw new AppError("conflict", `the upload has ended: it is ${state}`);
  if (hasExpired) throw gone(UPLOAD);
}

/** Encodes an upload; its version exists when it is `active`. */
export function encodeSession(
  session: Pick<UploadSessionRow, "id" | "versionId" | "expiresAt" | "partSizeBytes" | "state">,
): MessageInitShape<typeof UploadSessionSchema> {
  const { id, versionId, expiresAt, partSizeBytes, state } = session;
  return { id, versionId, expiresAt, partSizeBytes: BigInt(partSizeBytes), state };
}
