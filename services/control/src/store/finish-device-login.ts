import { sql, type Tx } from "@tidemark/pg";

const finishDeviceLoginSql = sql(
  "control_finish_device_login",
  "UPDATE control.device_logins SET status = 'finished' WHERE credential_id = $1",
);

/** Ends a device login: its key was handed out, or may not be. */
export async function finishDeviceLogin(tx: Tx, credentialId: string): Promise<void> {
  await tx.count(finishDeviceLoginSql, [credentialId]);
}
