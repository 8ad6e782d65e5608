import { sql, type Tx } from "@tidemark/pg";

const lockUserSql = sql("control_lock_user", "SELECT id FROM control.users WHERE id = $1 FOR NO KEY UPDATE");

/** Lets one transaction at a time decide about a user. */
export async function lockUser(tx: Tx, id: string): Promise<void> {
  await tx.rows(lockUserSql, [id]);
}
