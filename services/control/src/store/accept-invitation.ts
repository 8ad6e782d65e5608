import { sql, type Tx } from "@tidemark/pg";

const acceptInvitationSql = sql(
  "control_accept_invitation",
  `UPDATE control.invitations SET status = 'accepted', accepted_at = $3, accepted_by_user_id = $4
   WHERE org_id = $1 AND id = $2`,
);

/** Notes who accepted an invitation. */
export async function markInvitationAccepted(
  tx: Tx,
  invitation: { orgId: string; id: string; userId: string; now: Date },
): Promise<void> {
  await tx.count(acceptInvitationSql, [
    invitation.orgId,
    invitation.id,
    invitation.now.toISOString(),
    invitation.userId,
  ]);
}
