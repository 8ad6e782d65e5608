import { sql, type Tx } from "@tidemark/pg";

/** The current rights of a credential. */
export type CallerRights = { role: string; scopes: string[]; project_id: string | null };

const lockSql = sql("reports_lock_caller", "SELECT role, scopes, project_id FROM control.lock_caller_v1($1, $2, $3)");

/** Reads the rights of a credential of the organization, by the id in its text; they stay until the transaction ends. Undefined for one that has ended. */
export function lockCallerRights(
  tx: Tx,
  orgId: string,
  type: "session" | "api_key",
  credentialId: string,
): Promise<CallerRights | undefined> {
  return tx.one(lockSql, [orgId, type, credentialId]);
}
