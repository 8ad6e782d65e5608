import { sql, type Tx } from "@tidemark/pg";

/** A browser's session. */
export type SessionRow = {
  org_id: string;
  id: string;
  /** Null for a session of a key. */
  user_id: string | null;
  /** The key that it was made from, by the id in its text. */
  key_id: string | null;
  created_at: string;
  last_seen_at: string | null;
  expires_at: string;
  revoked_at: string | null;
};

const sessionColumns = "org_id, id, user_id, key_id, created_at, last_seen_at, expires_at, revoked_at";

const findSessionSql = sql(
  "control_find_session",
  `SELECT ${sessionColumns} FROM control.sessions WHERE org_id = $1 AND credential_id = $2`,
);

/** Returns a session by the id in its text. */
export function findSession(tx: Tx, orgId: string, credentialId: string): Promise<SessionRow | undefined> {
  return tx.one(findSessionSql, [orgId, credentialId]);
}

const insertSessionSql = sql(
  "control_insert_session",
  `INSERT INTO control.sessions (org_id, id, user_id, key_id, credential_id, hash, created_at, expires_at)
   VALUES ($1, $2, $3, $4, $5, $6, $7, $8) RETURNING ${sessionColumns}`,
);

/** The owner of a session: a member, or a key, by the id in its text. */
export type SessionOwner = { readonly userId: string } | { readonly keyId: string };

/** The fields of a new session. */
export type NewSessionRow = {
  orgId: string;
  id: string;
  owner: SessionOwner;
  credentialId: string;
  hash: Uint8Array;
  now: Date;
  expiresAt: Date;
};

/** Inserts a session. */
export async function insertSession(tx: Tx, session: NewSessionRow): Promise<SessionRow> {
  const row = await tx.one<SessionRow>(insertSessionSql, [
    session.orgId,
    session.id,
    "userId" in session.owner ? session.owner.userId : null,
    "keyId" in session.owner ? session.owner.keyId : null,
    session.credentialId,
    session.hash,
    session.now.toISOString(),
    session.expiresAt.toISOString(),
  ]);
  return row!;
}

const revokeSessionSql = sql(
  "control_revoke_session",
  `UPDATE control.sessions SET revoked_at = $3, changed_xid = pg_current_xact_id()
   WHERE org_id = $1 AND credential_id = $2 AND revoked_at IS NULL`,
);

/** Revokes a session by the id in its text; returns whether it was not revoked before. */
export async function revokeSession(tx: Tx, orgId: string, credentialId: string, now: Date): Promise<boolean> {
  return (await tx.count(revokeSessionSql, [orgId, credentialId, now.toISOString()])) > 0;
}

const endOldestSql = sql(
  "control_end_oldest_sessions",
  `UPDATE control.sessions SET revoked_at = $4, changed_xid = pg_current_xact_id()
   WHERE org_id = $1 AND id = ANY (ARRAY(
     SELECT s.id FROM control.sessions s WHERE s.org_id = $1 AND s.user_id = $2 AND s.revoked_at IS NULL
     ORDER BY s.created_at DESC, s.id OFFSET $3::bigint LIMIT 100))`,
);

/** Ends all but the newest `keep` sessions of a member. */
export async function endOldestSessions(
  tx: Tx,
  {
    orgId,
    userId,
    keep,
    now,
  }: { readonly orgId: string; readonly userId: string; readonly keep: number; readonly now: Date },
): Promise<void> {
  await tx.count(endOldestSql, [orgId, userId, keep, now.toISOString()]);
}

const endOldestOfKeySql = sql(
  "control_end_oldest_sessions_of_key",
  `UPDATE control.sessions SET revoked_at = $4, changed_xid = pg_current_xact_id()
   WHERE org_id = $1 AND id = ANY (ARRAY(
     SELECT s.id FROM control.sessions s WHERE s.org_id = $1 AND s.key_id = $2 AND s.revoked_at IS NULL
     ORDER BY s.created_at DESC, s.id OFFSET $3::bigint LIMIT 100))`,
);

/** Ends all but the newest `keep` sessions of a key. */
export async function endOldestSessionsOfKey(
  tx: Tx,
  {
    orgId,
    keyId,
    keep,
    now,
  }: { readonly orgId: string; readonly keyId: string; readonly keep: number; readonly now: Date },
): Promise<void> {
  await tx.count(endOldestOfKeySql, [orgId, keyId, keep, now.toISOString()]);
}

// A day later no gateway needs to learn that the session has ended.
const sweepSessionsSql = sql(
  "control_sweep_sessions",
  `DELETE FROM control.sessions
   WHERE (org_id, id) IN (SELECT org_id, id FROM control.sessions
                          WHERE least(expires_at, revoked_at) < $1::timestamptz - interval '1 day' LIMIT $2)`,
);

/** Deletes at most `batch` sessions that ended more than a day ago; returns their number. Runs as the worker role. */
export function sweepSessions(tx: Tx, now: Date, batch: number): Promise<number> {
  return tx.count(sweepSessionsSql, [now.toISOString(), batch]);
}
