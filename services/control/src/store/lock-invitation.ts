import { sql, type Tx } from "@tidemark/pg";
import { invitationColumns, type InvitationRow } from "./rows-invitations.ts";

const lockInvitationSql = sql(
  "control_lock_invitation",
  `SELECT ${invitationColumns} FROM control.invitations WHERE org_id = $1 AND id = $2 FOR UPDATE`,
);

/** An invitation, locked until the transaction ends. */
export function lockInvitation(tx: Tx, orgId: string, id: string): Promise<InvitationRow | undefined> {
  return tx.one(lockInvitationSql, [orgId, id]);
}
