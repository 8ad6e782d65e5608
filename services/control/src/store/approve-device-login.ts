import { sql, type Tx } from "@tidemark/pg";

const approveDeviceLoginSql = sql(
  "control_approve_device_login",
  "UPDATE control.device_logins SET status = 'approved', org_id = $2, user_id = $3 WHERE credential_id = $1",
);

/** Notes who approved a device login, and for which organization. */
export async function approveDeviceLogin(
  tx: Tx,
  login: { credentialId: string; orgId: string; userId: string },
): Promise<void> {
  await tx.count(approveDeviceLoginSql, [login.credentialId, login.orgId, login.userId]);
}
