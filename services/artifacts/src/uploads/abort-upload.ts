import { callerOf, pathId, throwFault } from "@tidemark/requests";
import { AppError } from "@tidemark/errors";
import type { ArtifactsDeps, ArtifactsHandlers } from "../deps.ts";
import { failUpload } from "./upload-jobs.ts";
import { encodeSession, lockSeenUpload, UPLOAD } from "./renew-parts.ts";

/**
 * Gives an upload up (API specification, POST /api/artifact-uploads/{upload_session_id}/abort); an upload that was already given up stays so.
 * @throws not_found, bad_request, conflict when it is being completed or has become a version
 */
export function abortUpload({ db }: ArtifactsDeps): ArtifactsHandlers["abortUpload"] {
  return (request, call) => {
    const caller = callerOf(call);
    const { orgId } = caller;
    const sessionId = pathId(request.uploadSessionId, UPLOAD);
    return db.withTenant(orgId, async (tx) => {
      const session = await lockSeenUpload(tx, caller, sessionId);
      throwFault(request.bodyFault);
      if (session.state === "uploading") await failUpload(tx, orgId, sessionId, request.reason);
      else if (session.state !== "failed") {
        throw new AppError("conflict", "the upload is being completed, or was");
      }
      return { session: encodeSession({ ...session, state: "failed" }) };
    });
  };
}
