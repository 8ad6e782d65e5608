import { sql, type Tx } from "@tidemark/pg";

const sweepInvitationsSql = sql(
  "control_sweep_invitations",
  `UPDATE control.invitations SET status = 'expired'
   WHERE (org_id, id) IN (SELECT org_id, id FROM control.invitations
                          WHERE status = 'pending' AND expires_at <= $1 LIMIT $2)`,
);

/** Marks invitations that ran out, at most `batch`; returns how many. Runs as the worker role. */
export function sweepInvitations(tx: Tx, now: Date, batch: number): Promise<number> {
  return tx.count(sweepInvitationsSql, [now.toISOString(), batch]);
}
