import { sql, type Tx } from "@tidemark/pg";
import { invitationColumns, type InvitationRow } from "./rows-invitations.ts";

const renewInvitationSql = sql(
  "control_renew_invitation",
  `UPDATE control.invitations
   SET credential_id = $3, hash = $4, last_sent_at = $5, expires_at = $6, delivery_status = 'queued'
   WHERE org_id = $1 AND id = $2
   RETURNING ${invitationColumns}`,
);

/** Gives an invitation a new token and a new end; the old token is worth nothing afterwards. */
export async function renewInvitation(
  tx: Tx,
  invitation: { orgId: string; id: string; credentialId: string; hash: Uint8Array; now: Date; expiresAt: Date },
): Promise<InvitationRow> {
  const { orgId, id, credentialId, hash, now, expiresAt } = invitation;
  const values = [orgId, id, credentialId, hash, now.toISOString(), expiresAt.toISOString()];
  return (await tx.one<InvitationRow>(renewInvitationSql, values))!;
}
