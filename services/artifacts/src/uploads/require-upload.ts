import { AppError, gone, notFound } from "@tidemark/errors";
import type { Tx } from "@tidemark/pg";
import { canSee, type Caller } from "@tidemark/requests";
import type { UploadSessionRow } from "./sessions.sql.ts";
import { findVisibleUpload, lockVisibleUpload } from "./visible-uploads.sql.ts";

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
