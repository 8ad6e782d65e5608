import { sql, type Tx } from "@tidemark/pg";

// An invitation to somebody who has a seat already takes no second one.
const countSeatsSql = sql(
  "control_count_seats",
  `SELECT (SELECT count(*) FROM control.memberships WHERE org_id = $1)
        + (SELECT count(*) FROM control.invitations i
           WHERE i.org_id = $1 AND i.status = 'pending' AND i.expires_at > $2
             AND NOT EXISTS (SELECT FROM control.memberships m JOIN control.users u ON u.id = m.user_id
                             WHERE m.org_id = $1 AND u.email = i.email)) AS seats`,
);

/** Seats that are taken or promised: members, and invitations that are open at `now`. */
export async function countSeats(tx: Tx, orgId: string, now: Date): Promise<number> {
  return (await tx.one<{ seats: number }>(countSeatsSql, [orgId, now.toISOString()]))!.seats;
}
