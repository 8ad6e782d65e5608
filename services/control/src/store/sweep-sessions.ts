import { sql, type Tx } from "@tidemark/pg";

// A day later nobody needs to be told any more that the session has ended.
const sweepSessionsSql = sql(
  "control_sweep_sessions",
  `DELETE FROM control.sessions
   WHERE (org_id, id) IN (SELECT org_id, id FROM control.sessions
                          WHERE least(expires_at, revoked_at) < $1::timestamptz - interval '1 day' LIMIT $2)`,
);

/** Removes sessions that ended more than a day ago, at most `batch`; returns how many. Runs as the worker role. */
export function sweepSessions(tx: Tx, now: Date, batch: number): Promise<number> {
  return tx.count(sweepSessionsSql, [now.toISOString(), batch]);
}
