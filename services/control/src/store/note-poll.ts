import { sql, type Tx } from "@tidemark/pg";

const notePollSql = sql(
  "control_note_poll",
  "UPDATE control.device_logins SET last_polled_at = $2 WHERE credential_id = $1",
);

/** Notes when a device last asked. */
export async function notePoll(tx: Tx, credentialId: string, now: Date): Promise<void> {
  await tx.count(notePollSql, [credentialId, now.toISOString()]);
}
