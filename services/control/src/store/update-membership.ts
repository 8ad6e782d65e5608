import { sql, type Tx } from "@tidemark/pg";
import type { Role } from "../domain/roles.ts";
import { membershipColumns, type MembershipRow } from "./rows-memberships.ts";

// Gateways know a member's role and status from the entries of their sessions.
const updateMembershipSql = sql(
  "control_update_membership",
  `WITH told AS (
     UPDATE control.sessions SET changed_xid = pg_current_xact_id()
     WHERE org_id = $1 AND user_id = $2 AND revoked_at IS NULL
   )
   UPDATE control.memberships SET role = $3, status = $4
   WHERE org_id = $1 AND user_id = $2
   RETURNING ${membershipColumns}`,
);

/** Sets a member's role and status, and lets gateways know; `undefined` when there is no such member. */
export function updateMembership(
  tx: Tx,
  member: { orgId: string; userId: string; role: Role; status: "active" | "invited" },
): Promise<MembershipRow | undefined> {
  return tx.one(updateMembershipSql, [member.orgId, member.userId, member.role, member.status]);
}
