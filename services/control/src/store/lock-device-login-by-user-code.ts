import { sql, type Tx } from "@tidemark/pg";
import { deviceLoginColumns, type DeviceLoginRow } from "./rows-device-logins.ts";

const lockDeviceLoginByUserCodeSql = sql(
  "control_lock_device_login_by_user_code",
  `SELECT ${deviceLoginColumns} FROM control.device_logins WHERE user_code_hash = $1 FOR UPDATE`,
);

/** A device login by the code that a person typed, locked until the transaction ends. */
export function lockDeviceLoginByUserCode(tx: Tx, userCodeHash: Uint8Array): Promise<DeviceLoginRow | undefined> {
  return tx.one(lockDeviceLoginByUserCodeSql, [userCodeHash]);
}
