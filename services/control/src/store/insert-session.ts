import { sql, type Tx } from "@tidemark/pg";
import { sessionColumns, type SessionRow } from "./rows-sessions.ts";

const insertSessionSql = sql(
  "control_insert_session",
  `INSERT INTO control.sessions (org_id, id, user_id, credential_id, hash, created_at, expires_at)
   VALUES ($1, $2, $3, $4, $5, $6, $7) RETURNING ${sessionColumns}`,
);

/** What a session begins with. */
export type NewSessionRow = {
  orgId: string;
  id: string;
  userId: string;
  credentialId: string;
  hash: Uint8Array;
  now: Date;
  expiresAt: Date;
};

/** Makes a session of a member. */
export async function insertSession(tx: Tx, session: NewSessionRow): Promise<SessionRow> {
  const row = await tx.one<SessionRow>(insertSessionSql, [
    session.orgId,
    session.id,
    session.userId,
    session.credentialId,
    session.hash,
    session.now.toISOString(),
    session.expiresAt.toISOString(),
  ]);
  return row!;
}
