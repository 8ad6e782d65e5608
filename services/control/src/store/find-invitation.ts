import { sql, type Tx } from "@tidemark/pg";
import { invitationColumns, type InvitationRow } from "./rows-invitations.ts";

const findInvitationSql = sql(
  "control_find_invitation",
  `SELECT ${invitationColumns} FROM control.invitations WHERE org_id = $1 AND id = $2`,
);

/** An invitation by id. */
export function findInvitation(tx: Tx, orgId: string, id: string): Promise<InvitationRow | undefined> {
  return tx.one(findInvitationSql, [orgId, id]);
}
