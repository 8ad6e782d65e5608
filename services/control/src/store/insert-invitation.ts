import { sql, type Tx } from "@tidemark/pg";
import type { Role } from "../domain/roles.ts";
import { invitationColumns, type InvitationRow } from "./rows-invitations.ts";

const insertInvitationSql = sql(
  "control_insert_invitation",
  `INSERT INTO control.invitations
     (org_id, id, email, role, credential_id, hash, invited_by_user_id, created_at, last_sent_at, expires_at)
   VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $8, $9)
   ON CONFLICT (org_id, email) WHERE status = 'pending' DO NOTHING
   RETURNING ${invitationColumns}`,
);

/** What an invitation begins with. */
export type NewInvitation = {
  orgId: string;
  id: string;
  email: string;
  role: Role;
  credentialId: string;
  hash: Uint8Array;
  invitedByUserId: string | undefined;
  now: Date;
  expiresAt: Date;
};

/** Makes an invitation; `undefined` when one for this address is pending. */
export function insertInvitation(tx: Tx, invitation: NewInvitation): Promise<InvitationRow | undefined> {
  return tx.one(insertInvitationSql, [
    invitation.orgId,
    invitation.id,
    invitation.email,
    invitation.role,
    invitation.credentialId,
    invitation.hash,
    invitation.invitedByUserId ?? null,
    invitation.now.toISOString(),
    invitation.expiresAt.toISOString(),
  ]);
}
