import { sql, type Tx } from "@tidemark/pg";
import { deviceLoginColumns, type DeviceLoginRow } from "./rows-device-logins.ts";

const lockDeviceLoginSql = sql(
  "control_lock_device_login",
  `SELECT ${deviceLoginColumns} FROM control.device_logins WHERE credential_id = $1 FOR UPDATE`,
);

/** A device login by the id in its code, locked so that its key is handed out once. */
export function lockDeviceLogin(tx: Tx, credentialId: string): Promise<DeviceLoginRow | undefined> {
  return tx.one(lockDeviceLoginSql, [credentialId]);
}
