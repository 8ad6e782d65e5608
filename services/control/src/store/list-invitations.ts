import { sql, type Tx } from "@tidemark/pg";
import { invitationColumns, type InvitationRow } from "./rows-invitations.ts";

const listInvitationsSql = sql(
  "control_list_invitations",
  `SELECT ${invitationColumns} FROM control.invitations WHERE org_id = $1
   ORDER BY created_at DESC, id LIMIT $2 OFFSET $3`,
);

/** An organization's invitations, newest first. */
export function listInvitationRows(
  tx: Tx,
  orgId: string,
  page: { limit: number; offset: number },
): Promise<InvitationRow[]> {
  return tx.rows(listInvitationsSql, [orgId, page.limit, page.offset]);
}
