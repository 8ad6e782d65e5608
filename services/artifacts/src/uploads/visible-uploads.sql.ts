import { sql, type Tx } from "@tidemark/pg";
import { ofVisibleRun } from "../runs/run-refs.sql.ts";
import { SESSION, type UploadSessionRow } from "./sessions.sql.ts";

const findVisibleSession = sql(
  "artifacts_find_visible_upload_session",
  `SELECT ${SESSION} FROM artifacts.upload_sessions s ${ofVisibleRun("s.run_id")} WHERE s.org_id = $1 AND s.id = $2`,
);
const lockVisibleSession = sql(
  "artifacts_lock_visible_upload_session",
  `SELECT ${SESSION} FROM artifacts.upload_sessions s ${ofVisibleRun("s.run_id")} WHERE s.org_id = $1 AND s.id = $2 FOR UPDATE OF s`,
);

/** Returns an upload of the organization, for a request; an upload of a deleted run is not found. */
export function findVisibleUpload(tx: Tx, orgId: string, sessionId: string): Promise<UploadSessionRow | undefined> {
  return tx.one(findVisibleSession, [orgId, sessionId]);
}

/** Like `findVisibleUpload`, but locks the upload until the end of the transaction. */
export function lockVisibleUpload(tx: Tx, orgId: string, sessionId: string): Promise<UploadSessionRow | undefined> {
  return tx.one(lockVisibleSession, [orgId, sessionId]);
}
