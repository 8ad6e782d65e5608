import { sql, type Tx } from "@tidemark/pg";
import type { MembershipRow } from "../organizations/memberships.sql.ts";
import type { UserRow } from "../organizations/users.sql.ts";

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
