import { sql, type Tx } from "@tidemark/pg";
import { sessionColumns, type SessionRow } from "./rows-sessions.ts";

const findSessionSql = sql(
  "control_find_session",
  `SELECT ${sessionColumns} FROM control.sessions WHERE org_id = $1 AND credential_id = $2`,
);

/** A session by the id in its text. */
export function findSession(tx: Tx, orgId: string, credentialId: string): Promise<SessionRow | undefined> {
  return tx.one(findSessionSql, [orgId, credentialId]);
}
