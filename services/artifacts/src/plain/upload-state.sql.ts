import { sql, type Tx } from "@tidemark/pg";

/** Who owns an upload, and how far it is. */
export type UploadState = {
  readonly orgId: string;
  readonly projectId: string;
  readonly state: string;
  /** Its time to send files is over. */
  readonly expired: boolean;
};

const findState = sql(
  "artifacts_find_upload_state",
  `SELECT org_id AS "orgId", project_id AS "projectId", state, expires_at <= now() AS expired
   FROM artifacts.upload_sessions WHERE org_id = $1 AND id = $2`,
);

/** Returns the state of an upload, if it is in the organization. */
export function findUploadState(tx: Tx, orgId: string, sessionId: string): Promise<UploadState | undefined> {
  return tx.one(findState, [orgId, sessionId]);
}
