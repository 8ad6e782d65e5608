import { sql, type Tx } from "@tidemark/pg";

/** A login that began on a device. */
export type DeviceLoginRow = {
  credential_id: string;
  hash: Uint8Array;
  status: "pending" | "approved" | "finished";
  org_id: string | null;
  user_id: string | null;
  expires_at: string;
  last_polled_at: string | null;
};

const deviceLoginColumns = "credential_id, hash, status, org_id, user_id, expires_at, last_polled_at";

const insertDeviceLoginSql = sql(
  "control_insert_device_login",
  `INSERT INTO control.device_logins
     (credential_id, hash, user_code_hash, client_name, client_version, created_at, expires_at)
   VALUES ($1, $2, $3, $4, $5, $6, $7)
   ON CONFLICT (user_code_hash) DO NOTHING`,
);

/** The fields of a new device login. */
export type NewDeviceLogin = {
  credentialId: string;
  hash: Uint8Array;
  userCodeHash: Uint8Array;
  clientName: string;
  clientVersion: string;
  now: Date;
  expiresAt: Date;
};

/** Inserts a device login; returns false when another one has the same user code. */
export async function insertDeviceLogin(tx: Tx, login: NewDeviceLogin): Promise<boolean> {
  const made = await tx.count(insertDeviceLoginSql, [
    login.credentialId,
    login.hash,
    login.userCodeHash,
    login.clientName || null,
    login.clientVersion || null,
    login.now.toISOString(),
    login.expiresAt.toISOString(),
  ]);
  return made > 0;
}

const lockDeviceLoginSql = sql(
  "control_lock_device_login",
  `SELECT ${deviceLoginColumns} FROM control.device_logins WHERE credential_id = $1 FOR UPDATE`,
);

/** Returns a device login by the id in its code and locks it, so that its key is handed out once. */
export function lockDeviceLogin(tx: Tx, credentialId: string): Promise<DeviceLoginRow | undefined> {
  return tx.one(lockDeviceLoginSql, [credentialId]);
}

const lockDeviceLoginByUserCodeSql = sql(
  "control_lock_device_login_by_user_code",
  `SELECT ${deviceLoginColumns} FROM control.device_logins WHERE user_code_hash = $1 FOR UPDATE`,
);

/** Returns a device login by the code that a person typed and locks it until the transaction ends. */
export function lockDeviceLoginByUserCode(tx: Tx, userCodeHash: Uint8Array): Promise<DeviceLoginRow | undefined> {
  return tx.one(lockDeviceLoginByUserCodeSql, [userCodeHash]);
}

const notePollSql = sql(
  "control_note_poll",
  "UPDATE control.device_logins SET last_polled_at = $2 WHERE credential_id = $1",
);

/** Records when a device last polled. */
export async function notePoll(tx: Tx, credentialId: string, now: Date): Promise<void> {
  await tx.count(notePollSql, [credentialId, now.toISOString()]);
}

const approveDeviceLoginSql = sql(
  "control_approve_device_login",
  "UPDATE control.device_logins SET status = 'approved', org_id = $2, user_id = $3 WHERE credential_id = $1",
);

/** Records who approved a device login, and for which organization. */
export async function approveDeviceLogin(
  tx: Tx,
  login: { credentialId: string; orgId: string; userId: string },
): Promise<void> {
  await tx.count(approveDeviceLoginSql, [login.credentialId, login.orgId, login.userId]);
}

const finishDeviceLoginSql = sql(
  "control_finish_device_login",
  "UPDATE control.device_logins SET status = 'finished' WHERE credential_id = $1",
);

/** Ends a device login: its key was handed out, or was denied. */
export async function finishDeviceLogin(tx: Tx, credentialId: string): Promise<void> {
  await tx.count(finishDeviceLoginSql, [credentialId]);
}

// An hour later the device no longer polls.
const sweepDeviceLoginsSql = sql(
  "control_sweep_device_logins",
  `DELETE FROM control.device_logins
   WHERE credential_id IN (SELECT credential_id FROM control.device_logins
                           WHERE expires_at < $1::timestamptz - interval '1 hour' LIMIT $2)`,
);

/** Deletes at most `batch` device logins that ended more than an hour ago; returns their number. Runs as the worker role. */
export function sweepDeviceLogins(tx: Tx, now: Date, batch: number): Promise<number> {
  return tx.count(sweepDeviceLoginsSql, [now.toISOString(), batch]);
}
