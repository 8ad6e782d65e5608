import { sql, type Tx } from "@tidemark/pg";

const insertDeviceLoginSql = sql(
  "control_insert_device_login",
  `INSERT INTO control.device_logins
     (credential_id, hash, user_code_hash, client_name, client_version, created_at, expires_at)
   VALUES ($1, $2, $3, $4, $5, $6, $7)
   ON CONFLICT (user_code_hash) DO NOTHING`,
);

/** What a device login begins with. */
export type NewDeviceLogin = {
  credentialId: string;
  hash: Uint8Array;
  userCodeHash: Uint8Array;
  clientName: string;
  clientVersion: string;
  now: Date;
  expiresAt: Date;
};

/** Makes a device login; false when somebody else's has the same user code. */
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
