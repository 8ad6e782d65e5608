import { sql, type Tx } from "@tidemark/pg";
import type { MembershipSummaryRow } from "./rows-memberships.ts";

const listMembershipsOfUserSql = sql(
  "control_list_memberships_of_user",
  "SELECT org_id, name, slug, plan_tier, account_type, role, status, member_count FROM control.memberships_of($1)",
);

/** A user's organizations, invitations to a seat included; the one they were in last comes first. */
export function listMembershipsOfUser(tx: Tx, userId: string): Promise<MembershipSummaryRow[]> {
  return tx.rows(listMembershipsOfUserSql, [userId]);
}
