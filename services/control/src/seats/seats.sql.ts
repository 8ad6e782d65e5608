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

/** A member with what colleagues may know of the person. */
export type SeatRow = MembershipRow & Pick<UserRow, "email" | "display_name" | "avatar_url">;

/** Returns an organization's members, oldest first. */
export function listSeatRows(tx: Tx, orgId: string, page: { limit: number; offset: number }): Promise<SeatRow[]> {
  return tx.rows(listSeatsSql, [orgId, page.limit, page.offset]);
}

// An invitation of somebody who has a seat does not take a second one. Invitations are not counted further than they matter.
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
 * Tells whether more than `limit` seats of an organization are taken or promised, by members and by invitations that are
 * pending at `now`.
 */
export async function exceedsSeats(tx: Tx, orgId: string, now: Date, limit: number): Promise<boolean> {
  const row = await tx.one<{ seats: number }>(countSeatsSql, [orgId, now.toISOString(), limit + 1]);
  return row!.seats > limit;
}
