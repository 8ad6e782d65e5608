import { sql, type Tx } from "@tidemark/pg";
import type { MembershipRow } from "./rows-memberships.ts";
import type { UserRow } from "./rows-users.ts";

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

/** An organization's members, oldest first. */
export function listSeatRows(tx: Tx, orgId: string, page: { limit: number; offset: number }): Promise<SeatRow[]> {
  return tx.rows(listSeatsSql, [orgId, page.limit, page.offset]);
}
