import { sql, type Tx } from "@tidemark/pg";
import type { InvitationRow } from "../domain/records.ts";
import { invitationColumns } from "./columns.ts";

const statement = sql(
  "control_lock_invitation",
  `SELECT ${invitationColumns} FROM control.invitations WHERE org_id = $1 AND id = $2 FOR UPDATE`,
);

/** An invitation, locked until the transaction ends. */
export function lockInvitation(tx: Tx, orgId: string, id: string): Promise<InvitationRow | undefined> {
  return tx.one(statement, [orgId, id]);
}
