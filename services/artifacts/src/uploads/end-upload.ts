import type { Tx } from "@tidemark/pg";
import { giveUpObjects } from "../objects/objects.sql.ts";
import { addStorage } from "../storage/storage.sql.ts";
import { changeUploadState, deleteUploadFiles, listUploadFiles } from "./sessions.sql.ts";
import { reservedBytesOf } from "./upload-plan.rules.ts";

/** Gives an upload up that has not become a version, in a transaction that has locked it: its bytes are swept once none of its addresses is valid. */
export async function failUpload(tx: Tx, orgId: string, sessionId: string, reason: string | undefined): Promise<void> {
  const files = await listUploadFiles(tx, orgId, sessionId);
  await giveUpObjects(
    tx,
    orgId,
    files.flatMap(({ objectId }) => objectId ?? []),
  );
  await changeUploadState(tx, orgId, sessionId, "failed", reason === undefined ? {} : { reason });
  await deleteUploadFiles(tx, orgId, sessionId);
  await addStorage(tx, orgId, { reservedBytes: -reservedBytesOf(files) });
}
