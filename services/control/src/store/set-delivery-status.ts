import { sql, type Tx } from "@tidemark/pg";
import type { InvitationRow } from "../domain/records.ts";
import { invitationColumns } from "./columns.ts";

const statement = sql(
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
  return (await tx.one<InvitationRow>(statement, [orgId, id, status]))!;
}
