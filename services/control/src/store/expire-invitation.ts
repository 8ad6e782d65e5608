import { sql, type Tx } from "@tidemark/pg";

const expireInvitationSql = sql(
  "control_expire_invitation",
  `UPDATE control.invitations SET status = 'expired'
   WHERE org_id = $1 AND email = $2 AND status = 'pending' AND expires_at <= $3`,
);

/** Marks an address's invitation that ran out, so that it can be invited again. */
export async function expireInvitation(tx: Tx, orgId: string, email: string, now: Date): Promise<void> {
  await tx.count(expireInvitationSql, [orgId, email, now.toISOString()]);
}
