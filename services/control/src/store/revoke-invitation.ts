import { sql, type Tx } from "@tidemark/pg";
import type { InvitationRow } from "../domain/records.ts";
import { invitationColumns } from "./columns.ts";

const statement = sql(
  "control_revoke_invitation",
  `UPDATE control.invitations SET status = 'revoked', revoked_at = $3
   WHERE org_id = $1 AND id = $2 RETURNING ${invitationColumns}`,
);

/** Takes an invitation back. */
export async function revokeInvitation(tx: Tx, orgId: string, id: string, now: Date): Promise<InvitationRow> {
  return (await tx.one<InvitationRow>(statement, [orgId, id, now.toISOString()]))!;
}
