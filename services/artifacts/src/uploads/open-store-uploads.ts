import type { ArtifactsDeps } from "../deps.ts";
import { listUploadFiles, noteStoreUploadIds, type UploadFileRow, type UploadSessionRow } from "./sessions.sql.ts";
import { storePartBytesOf } from "./upload-plan.rules.ts";
import { eachOf } from "./upload-jobs.ts";
import type { Tx } from "@tidemark/pg";

/** The number of files whose uploads are begun in the store simultaneously. */
const OPENED_TOGETHER = 8;

/**
 * Begins uploads in the store that have not begun, and returns all files that need bytes. It runs after the upload's rows were committed, so that
 * everything in the store can be found by its row; after a crash in between the repeated request does the rest. Uploads in the store that do not count are
 * ended when the file is verified, or swept.
 * @throws service_unavailable
 */
export async function openStoreUploads(
  { db, blob }: Pick<ArtifactsDeps, "db" | "blob">,
  session: Pick<UploadSessionRow, "orgId" | "id" | "partSizeBytes">,
): Promise<UploadFileRow[]> {
  const { orgId, id } = session;
  const files = await db.withTenant(orgId, (tx) => listSentFiles(tx, orgId, id));
  const missing = files.filter(
    (file) => file.storeUploadId === null && needsStoreUpload(blob.signed !== undefined, file),
  );
  if (missing.length === 0) return files;
  const begun: { objectId: string; storeUploadId: string; replaced: null }[] = [];
  await eachOf(missing, OPENED_TOGETHER, async ({ objectId, partCount }) => {
    const partBytes = storePartBytesOf({ partCount }, session.partSizeBytes);
    const storeUploadId = await blob.beginParts(blob.keyOf(orgId, objectId!), { partBytes });
    begun.push({ objectId: objectId!, storeUploadId, replaced: null });
  });
  return db.withTenant(orgId, async (tx) => {
    await noteStoreUploadIds(tx, orgId, begun);
    // An early repeat of the request may have begun others before.
    return listSentFiles(tx, orgId, id);
  });
}

async function listSentFiles(tx: Tx, orgId: string, sessionId: string): Promise<UploadFileRow[]> {
  return (await listUploadFiles(tx, orgId, sessionId)).filter(({ uploadKind }) => uploadKind !== null);
}

/** A store that clients reach takes files of one part as objects; all other files are uploaded in parts. */
function needsStoreUpload(isSigned: boolean, { uploadKind }: Pick<UploadFileRow, "uploadKind">): boolean {
  return uploadKind === "multipart" || (uploadKind === "put" && !isSigned);
}
