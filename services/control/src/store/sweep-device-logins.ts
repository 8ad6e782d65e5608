import { sql, type Tx } from "@tidemark/pg";

// An hour later the device has long given up asking.
const sweepDeviceLoginsSql = sql(
  "control_sweep_device_logins",
  `DELETE FROM control.device_logins
   WHERE credential_id IN (SELECT credential_id FROM control.device_logins
                           WHERE expires_at < $1::timestamptz - interval '1 hour' LIMIT $2)`,
);

/** Removes device logins that ended more than an hour ago, at most `batch`; returns how many. Runs as the worker role. */
export function sweepDeviceLogins(tx: Tx, now: Date, batch: number): Promise<number> {
  return tx.count(sweepDeviceLoginsSql, [now.toISOString(), batch]);
}
