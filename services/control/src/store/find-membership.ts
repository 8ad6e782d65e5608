import { sql, type Tx } from "@tidemark/pg";
import { membershipColumns, type MembershipRow } from "./rows-memberships.ts";

const findMembershipSql = sql(
  "control_find_membership",
  `SELECT ${membershipColumns} FROM control.memberships WHERE org_id = $1 AND user_id = $2`,
);

/** A user's membership of an organization. */
export function findMembership(tx: Tx, orgId: string, userId: string): Promise<MembershipRow | undefined> {
  return tx.one(findMembershipSql, [orgId, userId]);
}
