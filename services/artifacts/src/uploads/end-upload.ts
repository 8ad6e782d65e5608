import { AppError } from "@tidemark/errors";
import { type Caller, callerOf, pathId, throwFault } from "@tidemark/requests";
import type { CompleteUploadRequest } from "@tidemark/proto/artifacts/v1/uploads";
import type { ArtifactsDeps, ArtifactsHandlers } from "../deps.ts";
import { encodeVersion, requireStoredVersion } from "../versions/get-version.ts";
import { readCompletion } from "./completion.rules.ts";
import { lockSeenUpload, requireUpload, requireUploading, UPLOAD, encodeSession } from "./renew-parts.ts";
import { beginUploadCompletion, listUploadFiles } from "./sessions.sql.ts";
import { LEASE_SECONDS, failUpload } from "./upload-jobs.ts";

/** Milliseconds that a request waits for the verification, which then goes on without the request. */
const WAIT_MS = 8000;
/** How often a request looks whether another process has verified it. */
const LOOK_MS = 250;

/**
 * Verifies the files of an upload and makes a version of them (API specification, POST /api/artifact-uploads/{upload_session_id}/complete). Of several
 * simultaneous requests one begins, all have its result; a repeat has the stored one.
 * @throws not_found, bad_request, conflict, gone, service_unavailable when it takes longer than 8 s: then the same request gets the result later
 */
export function completeUpload(deps: ArtifactsDeps): ArtifactsHandlers["completeUpload"] {
  const { db, jobs } = deps;
  return async (request, call) => {
    const caller = callerOf(call);
    const { orgId } = caller;
    const sessionId = pathId(request.uploadSessionId, UPLOAD);
    const isOurs = await beginCompletion(deps, caller, sessionId, request);
    // The process that began it may be gone.
    const job = isOurs ? jobs.start(orgId, sessionId) : (jobs.join(orgId, sessionId) ?? jobs.resume(orgId, sessionId));
    const until = performance.now() + WAIT_MS;
    await waited(job, until);
    for (;;) {
      const session = await db.withTenant(orgId, (tx) => requireUpload(tx, caller, sessionId));
      const { state, resultVersionId } = session;
      if (resultVersionId !== null) {
        const version = await db.withTenant(orgId, (tx) => requireStoredVersion(tx, orgId, resultVersionId));
        return { version: encodeVersion(version), deduplicated: state === "deduplicated" };
      }
      // Only the process that verified it has the reason; clients that waited elsewhere may try again.
      if (state === "uploading") throw new AppError("conflict", "the upload did not verify; complete it again");
      if (state === "failed") requireUploading(session);
      if (performance.now() >= until) {
        throw new AppError("service_unavailable", "the upload is being verified; ask again", { retryAfterSeconds: 2 });
      }
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    }
  };
}

/** Stores the sent data and returns true if the upload was waiting for it; false if it is being verified or has succeeded. */
function beginCompletion(
  { db }: ArtifactsDeps,
  caller: Caller,
  sessionId: string,
  request: CompleteUploadRequest,
): Promise<boolean> {
  const { orgId } = caller;
  return db.withTenant(orgId, async (tx) => {
    const session = await lockSeenUpload(tx, caller, sessionId);
    throwFault(request.bodyFault);
    if (session.state !== "uploading" && session.state !== "failed") return false;
    requireUploading(session);
    const files = await listUploadFiles(tx, orgId, sessionId);
    const sent = readCompletion(
      request.files,
      files.filter(({ uploadKind }) => uploadKind !== null),
    );
    const completion = Buffer.from(JSON.stringify([...sent.values()]));
    await beginUploadCompletion(tx, orgId, sessionId, { completion, leaseSeconds: LEASE_SECONDS });
    return true;
  });
}

/** Resolves when the job has ended or at a given time, whichever is first. @throws what the job throws */
async function waited(job: Promise<void>, until: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, until - performance.now());
  });
  await Promise.race([job, late]).finally(() => clearTimeout(timer));
}

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
