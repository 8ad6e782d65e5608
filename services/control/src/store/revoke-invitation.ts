import { sql, type Tx } from "@tidemark/pg";
import { invitationColumns, type InvitationRow } from "./rows-invitations.ts";

const revokeInvitationSql = sql(
  "control_revoke_invitation",
  `UPDATE control.invitations SET status = 'revoked', revoked_at = $3
   WHERE org_id = $1 AND id = $2 RETURNING ${invitationColumns}`,
);

/** Takes an invitation back. */
export async function revokeInvitationRow(tx: Tx, orgId: string, id: string, now: Date): Promise<InvitationRow> {
  return (await tx.one<InvitationRow>(revokeInvitationSql, [orgId, id, now.toISOString()]))!;
}
