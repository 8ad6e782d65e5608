import { sql, type Tx } from "@tidemark/pg";
import type { MembershipRow } from "../organizations/memberships.sql.ts";
import type { UserRow } from "../organizations/users.sql.ts";

const listSeatsSql = sql(
  "control_list_seats",
  `SELECT m.org_id, m.id, m.user_id, m.role, m.status, m.created_at,
          u.email, u.display_name, u.avatar_url
   FROM control.memberships m JOIN control.users u ON u.id = m.user_id
   WHERE m.org_id = $1
   ORDER BY m.created_at, u.email LIMIT $2 OFFSET $3`,
);

/** A member with what colleagues may know of the person. */
export type SeatRow = MembershipRow & Pick<UserRow, "email" | "display_name" | "avatar_url">;

/** Returns an organization's members, oldest first. */
export function listSeatRows(tx: Tx, orgId: string, page: { limit: number; offset: number }): Promise<SeatRow[]> {
  return tx.rows(listSeatsSql, [orgId, page.limit, page.offset]);
}

// An invitation of somebody who has a seat does not take a second one.
const countSeatsSql = sql(
  "control_count_seats",
  `SELECT (SELECT count(*) FROM control.memberships WHERE org_id = $1)
        + (SELECT count(*) FROM control.invitations i
           WHERE i.org_id = $1 AND i.status = 'pending' AND i.expires_at > $2
             AND NOT EXISTS (SELECT FROM control.memberships m JOIN control.users u ON u.id = m.user_id
                             WHERE m.org_id = $1 AND u.email = i.email)) AS seats`,
);

/** Returns the number of seats that are taken or promised: members, and invitations that are pending at `now`. */
export async function countSeats(tx: Tx, orgId: string, now: Date): Promise<number> {
  return (await tx.one<{ seats: number }>(countSeatsSql, [orgId, now.toISOString()]))!.seats;
}
