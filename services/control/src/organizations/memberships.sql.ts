import { sql, type Tx } from "@tidemark/pg";
import type { PlanTier } from "@tidemark/limits";
import type { AccountType, Role } from "./people.rules.ts";

/** A user's membership of an organization. The fields of this type and of every other row type have the names of the columns; instants are RFC 3339 texts. */
export type MembershipRow = {
  org_id: string;
  id: string;
  user_id: string;
  role: Role;
  status: "active" | "invited";
  created_at: string;
};

/** An organization as its member sees it. */
export type MembershipSummaryRow = {
  org_id: string;
  name: string;
  slug: string;
  plan_tier: PlanTier;
  account_type: AccountType;
  role: Role;
  status: "active" | "invited";
  member_count: number;
};

const membershipColumns = "org_id, id, user_id, role, status, created_at";

const findMembershipSql = sql(
  "control_find_membership",
  `SELECT ${membershipColumns} FROM control.memberships WHERE org_id = $1 AND user_id = $2`,
);

/** Returns a user's membership of an organization. */
export function findMembership(tx: Tx, orgId: string, userId: string): Promise<MembershipRow | undefined> {
  return tx.one(findMembershipSql, [orgId, userId]);
}

const lockMembershipSql = sql(
  "control_lock_membership",
  `SELECT ${membershipColumns} FROM control.memberships WHERE org_id = $1 AND user_id = $2 FOR SHARE`,
);

/** As `findMembership`; no other transaction changes it until this one ends. */
export function lockMembership(tx: Tx, orgId: string, userId: string): Promise<MembershipRow | undefined> {
  return tx.one(lockMembershipSql, [orgId, userId]);
}

const listMembershipsOfUserSql = sql(
  "control_list_memberships_of_user",
  "SELECT org_id, name, slug, plan_tier, account_type, role, status, member_count FROM control.memberships_of($1)",
);

/** Returns a user's organizations, seats that wait for them included; the one they were in last comes first. */
export function listMembershipsOfUser(tx: Tx, userId: string): Promise<MembershipSummaryRow[]> {
  return tx.rows(listMembershipsOfUserSql, [userId]);
}

const listDeletedSql = sql(
  "control_list_deleted_memberships",
  `SELECT org_id, name, slug, plan_tier, account_type, role, status, member_count, deleted_at, purge_after
   FROM control.deleted_memberships_of($1) WHERE purge_after > $2`,
);

/** Returns a user's deleted organizations that can be restored, the latest first. */
export function listDeletedMemberships(
  tx: Tx,
  userId: string,
  now: Date,
): Promise<(MembershipSummaryRow & { readonly deleted_at: string; readonly purge_after: string })[]> {
  return tx.rows(listDeletedSql, [userId, now.toISOString()]);
}

const insertMembershipSql = sql(
  "control_insert_membership",
  `INSERT INTO control.memberships (org_id, id, user_id, role, status, created_at)
   VALUES ($1, $2, $3, $4, $5, $6)
   ON CONFLICT (org_id, user_id) DO NOTHING
   RETURNING ${membershipColumns}`,
);

/** Inserts a membership; returns undefined when the user has one. */
export function insertMembership(
  tx: Tx,
  member: { orgId: string; id: string; userId: string; role: Role; status: "active" | "invited"; now: Date },
): Promise<MembershipRow | undefined> {
  const { orgId, id, userId, role, status, now } = member;
  return tx.one(insertMembershipSql, [orgId, id, userId, role, status, now.toISOString()]);
}

const updateMembershipSql = sql(
  "control_update_membership",
  `UPDATE control.memberships SET role = $3, status = $4 WHERE org_id = $1 AND user_id = $2 RETURNING ${membershipColumns}`,
);
const takeSeatSql = sql(
  "control_take_seat",
  `UPDATE control.memberships SET status = 'active' WHERE org_id = $1 AND user_id = $2 AND status = 'invited'
   RETURNING ${membershipColumns}`,
);
// Gateways know a member's role and status from the entries of that member's sessions.
const tellSessionsSql = sql(
  "control_tell_sessions",
  "UPDATE control.sessions SET changed_xid = pg_current_xact_id() WHERE org_id = $1 AND user_id = $2 AND revoked_at IS NULL",
);

/** Sets a member's role and status, in their sessions' entries of the projection as well; returns undefined when there is no such member. */
export async function updateMembership(
  tx: Tx,
  { orgId, userId, role, status }: { orgId: string; userId: string; role: Role; status: "active" | "invited" },
): Promise<MembershipRow | undefined> {
  const member = await tx.one<MembershipRow>(updateMembershipSql, [orgId, userId, role, status]);
  // After the row was locked, so that it also covers sessions that were opened meanwhile.
  await tx.count(tellSessionsSql, [orgId, userId]);
  return member;
}

/** Makes an invited member an active one, with the role that they have now; returns undefined when no seat waits for them anymore. */
export function takeInvitedSeat(tx: Tx, orgId: string, userId: string): Promise<MembershipRow | undefined> {
  return tx.one(takeSeatSql, [orgId, userId]);
}
