import { sql, type Tx } from "@tidemark/pg";
import { invitationColumns, type InvitationRow } from "./rows-invitations.ts";

const setDeliveryStatusSql = sql(
  "control_set_delivery_status",
  `UPDATE control.invitations SET delivery_status = $3 WHERE org_id = $1 AND id = $2 RETURNING ${invitationColumns}`,
);

/** Notes what became of an invitation's message. */
export async function setDeliveryStatus(
  tx: Tx,
  orgId: string,
  id: string,
  status: "sent" | "failed",
): Promise<InvitationRow> {
  return (await tx.one<InvitationRow>(setDeliveryStatusSql, [orgId, id, status]))!;
}
