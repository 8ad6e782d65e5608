import { sql, type Tx } from "@tidemark/pg";
import type { Role } from "../organizations/people.rules.ts";

/** The current rights of an API key. */
export type KeyRights = {
  scopes: string[];
  project_id: string | null;
  expires_at: string | null;
  revoked_at: string | null;
  created_by_user_id: string | null;
};

/** The current rights of a session: those of its member. */
export type SessionRights = {
  role: Role;
  status: "active" | "invited";
  expires_at: string;
  revoked_at: string | null;
};

const lockKeySql = sql(
  "control_lock_key",
  `SELECT k.scopes, k.project_id, k.expires_at, k.revoked_at,
     (SELECT a.created_by_user_id FROM control.service_accounts a
      WHERE a.org_id = k.org_id AND a.id = k.service_account_id) AS created_by_user_id
   FROM control.api_keys k WHERE k.org_id = $1 AND k.credential_id = $2 FOR SHARE`,
);

/** Reads a key by the id in its text. No other transaction revokes it until this one ends. */
export function lockKey(tx: Tx, orgId: string, credentialId: string): Promise<KeyRights | undefined> {
  return tx.one(lockKeySql, [orgId, credentialId]);
}

const lockSessionSql = sql(
  "control_lock_session",
  `SELECT m.role, m.status, s.expires_at, s.revoked_at
   FROM control.sessions s JOIN control.memberships m ON m.org_id = s.org_id AND m.user_id = s.user_id
   WHERE s.org_id = $1 AND s.credential_id = $2 FOR SHARE`,
);

/** Reads a session by the id in its text, and its member. No other transaction ends or changes them until this one ends. */
export function lockSession(tx: Tx, orgId: string, credentialId: string): Promise<SessionRights | undefined> {
  return tx.one(lockSessionSql, [orgId, credentialId]);
}
