import { sql, type Tx } from "@tidemark/pg";
import type { PlanTier } from "@tidemark/limits";
import type { AccountType, Role } from "./people.rules.ts";
import type { UserRow } from "./users.sql.ts";

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

// The page is cut before the persons are looked up.
const listSeatsSql = sql(
  "control_list_seats",
  `SELECT m.org_id, m.id, m.user_id, m.role, m.status, m.created_at,
          u.email, u.display_name, u.avatar_url
   FROM (SELECT * FROM control.memberships WHERE org_id = $1 ORDER BY created_at, id LIMIT $2 OFFSET $3) m
   CROSS JOIN LATERAL (SELECT * FROM control.users WHERE id = m.user_id OFFSET 0) u
   ORDER BY m.created_at, m.id`,
);

/** A member with the personal data that colleagues may see. */
export type SeatRow = MembershipRow & Pick<UserRow, "email" | "display_name" | "avatar_url">;

/** Returns an organization's members, oldest first. */
export function listSeatRows(tx: Tx, orgId: string, page: { limit: number; offset: number }): Promise<SeatRow[]> {
  return tx.rows(listSeatsSql, [orgId, page.limit, page.offset]);
}

const findSeatSql = sql(
  "control_find_seat",
  `SELECT m.org_id, m.id, m.user_id, m.role, m.status, m.created_at, u.email, u.display_name, u.avatar_url
   FROM control.memberships m
   CROSS JOIN LATERAL (SELECT * FROM control.users WHERE id = m.user_id OFFSET 0) u
   WHERE m.org_id = $1 AND m.id = $2`,
);

/** Returns a member by the id of their membership. */
export function findSeatRow(tx: Tx, orgId: string, id: string): Promise<SeatRow | undefined> {
  return tx.one(findSeatSql, [orgId, id]);
}

const hasOtherOwnerSql = sql(
  "control_has_other_owner",
  `SELECT FROM control.memberships WHERE org_id = $1 AND id <> $2 AND role = 'owner' AND status = 'active' LIMIT 1`,
);

/** Returns whether an organization has an active owner other than this member. The caller has locked the organization's row. */
export async function hasOtherOwner(tx: Tx, orgId: string, id: string): Promise<boolean> {
  return (await tx.count(hasOtherOwnerSql, [orgId, id])) > 0;
}

const removeSeatSql = sql("control_remove_seat", "DELETE FROM control.memberships WHERE org_id = $1 AND id = $2");
// Gateways learn from the sessions that these have ended.
const endSessionsSql = sql(
  "control_end_sessions_of_member",
  `UPDATE control.sessions SET revoked_at = $3, changed_xid = pg_current_xact_id()
   WHERE org_id = $1 AND user_id = $2 AND revoked_at IS NULL`,
);

/** Removes a member and ends their sessions in the organization. */
export async function removeSeatRow(tx: Tx, { org_id, id, user_id }: SeatRow, now: Date): Promise<void> {
  await tx.count(removeSeatSql, [org_id, id]);
  // After the row was locked, so that it also ends sessions that were opened meanwhile.
  await tx.count(endSessionsSql, [org_id, user_id, now.toISOString()]);
}

// An invitation of a person who has a seat does not take a second one. Invitations are counted only as far as they matter.
const countSeatsSql = sql(
  "control_count_seats",
  `SELECT coalesce((SELECT members FROM control.member_counts WHERE org_id = $1), 0)
        + (SELECT count(*) FROM (
             SELECT FROM control.invitations i
             WHERE i.org_id = $1 AND i.status = 'pending' AND i.expires_at > $2
               AND NOT EXISTS (SELECT FROM control.users u
                               CROSS JOIN LATERAL (SELECT FROM control.memberships
                                                   WHERE org_id = $1 AND user_id = u.id OFFSET 0) m
                               WHERE u.email = i.email OFFSET 0)
             LIMIT $3) p) AS seats`,
);

/**
 * Returns whether more than `limit` seats of an organization are taken or promised, by members and by invitations that are
 * pending at `now`.
 */
export async function exceedsSeats(tx: Tx, orgId: string, now: Date, limit: number): Promise<boolean> {
  const row = await tx.one<{ seats: number }>(countSeatsSql, [orgId, now.toISOString(), limit + 1]);
  return row!.seats > limit;
}
