import { sql, type Tx } from "@tidemark/pg";

const revokeSessionSql = sql(
  "control_revoke_session",
  `UPDATE control.sessions SET revoked_at = $3, changed_xid = pg_current_xact_id()
   WHERE org_id = $1 AND credential_id = $2 AND revoked_at IS NULL`,
);

/** Ends a session by the id in its text; tells whether it was alive. */
export async function revokeSession(tx: Tx, orgId: string, credentialId: string, now: Date): Promise<boolean> {
  return (await tx.count(revokeSessionSql, [orgId, credentialId, now.toISOString()])) > 0;
}
