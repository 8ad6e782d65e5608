import { type Db, sql, type Tx } from "@tidemark/pg";
import { ofVisibleRun } from "../runs/run-refs.sql.ts";
import { SESSION, type UploadSessionRow } from "./sessions.sql.ts";
import { isAvailable } from "../versions/versions.sql.ts";

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

// By the digest alone first, in any state: to the planner, walking the active versions of the collection would look as good.
const findByDigest = sql(
  "artifacts_find_version_by_digest",
  `SELECT v.id
   FROM (SELECT f.* FROM artifacts.versions f
         WHERE f.org_id = $1 AND f.digest = decode($3, 'hex') OFFSET 0) v
   WHERE v.collection_id = $2 AND ${isAvailable}
   ORDER BY v.version_index DESC LIMIT 1`,
);

/** Returns the newest available version of a collection whose manifest has this digest (64 hexadecimal digits). The collection is locked. */
export async function findVersionByDigest(
  tx: Tx,
  orgId: string,
  collectionId: string,
  digest: string,
): Promise<string | undefined> {
  return (await tx.one<{ id: string }>(findByDigest, [orgId, collectionId, digest]))?.id;
}

const read = sql("artifacts_read_upload_secret", "SELECT secret FROM artifacts.upload_secret");

/** Returns a reader of the secret that signs addresses of parts; the same in all processes, read once. @throws warehouse_unavailable */
export function createUploadSecret(db: Db): () => Promise<Uint8Array> {
  let secret: Promise<Uint8Array> | undefined;
  return () => {
    secret ??= db.one<{ secret: Uint8Array }>(read, []).then((row) => row!.secret);
    secret.catch(() => (secret = undefined));
    return secret;
  };
}
