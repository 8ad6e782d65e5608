import { AppError, gone, notFound } from "@tidemark/errors";
import type { ArtifactsDeps, ArtifactsHandlers } from "../deps.ts";
import { readPartToken } from "./part-token.rules.ts";
import { findUploadFile } from "./sessions.sql.ts";
import { findVisibleUpload } from "./visible-uploads.sql.ts";
import { partBytesOf } from "./upload-plan.rules.ts";

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
