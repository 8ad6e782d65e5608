import type { ArtifactsDeps } from "../handlers.ts";
import { eachOf } from "./each-of.ts";
import { listUploadFiles, noteStoreUploadIds, type UploadFileRow, type UploadSessionRow } from "./sessions.sql.ts";
import { storePartBytesOf } from "./upload-plan.rules.ts";

/** Files whose uploads are begun in the store simultaneously. */
const OPENED_TOGETHER = 8;

/**
 * Begins those uploads in the store that have not begun, and returns all files that need bytes. It runs after the upload's rows were committed, so that
 * whatever the store then has is found by its row; after a crash in between the repeated request does the rest.
 * @throws service_unavailable
 */
export async function openStoreUploads(
  { db, blob }: Pick<ArtifactsDeps, "db" | "blob">,
  session: Pick<UploadSessionRow, "orgId" | "id" | "partSizeBytes">,
): Promise<UploadFileRow[]> {
  const { orgId, id } = session;
  const files = (await db.withTenant(orgId, (tx) => listUploadFiles(tx, orgId, id))).filter(
    ({ uploadKind }) => uploadKind !== null,
  );
  const missing = files.filter(
    (file) => file.storeUploadId === null && needsStoreUpload(blob.signed !== undefined, file),
  );
  if (missing.length === 0) return files;
  const begun = new Map<string, string>();
  await eachOf(missing, OPENED_TOGETHER, async (file) => {
    const partBytes = storePartBytesOf(file, session.partSizeBytes);
    begun.set(file.objectId!, await blob.beginParts(blob.keyOf(orgId, file.objectId!), { partBytes }));
  });
  await db.withTenant(orgId, (tx) =>
    noteStoreUploadIds(
      tx,
      orgId,
      [...begun].map(([objectId, storeUploadId]) => ({ objectId, storeUploadId })),
    ),
  );
  return files.map((file) => ({ ...file, storeUploadId: begun.get(file.objectId ?? "") ?? file.storeUploadId }));
}

/** A store that clients reach takes files of one part as objects; all others are uploads in parts. */
function needsStoreUpload(isSigned: boolean, { uploadKind }: Pick<UploadFileRow, "uploadKind">): boolean {
  return uploadKind === "multipart" || (uploadKind === "put" && !isSigned);
}
