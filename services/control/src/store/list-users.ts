import { sql, type Tx } from "@tidemark/pg";
import { userColumns, type UserRow } from "./rows-users.ts";

const listUsersSql = sql(
  "control_list_users",
  `SELECT ${userColumns} FROM control.users ORDER BY created_at, id LIMIT $1 OFFSET $2`,
);

/** Users, oldest first. */
export function listUserRows(tx: Tx, page: { limit: number; offset: number }): Promise<UserRow[]> {
  return tx.rows(listUsersSql, [page.limit, page.offset]);
}
