import { sql, type Tx } from "@tidemark/pg";
import type { UserRow } from "../domain/records.ts";
import { userColumns } from "./columns.ts";

const statement = sql(
  "control_list_users",
  `SELECT ${userColumns} FROM control.users ORDER BY created_at, id LIMIT $1 OFFSET $2`,
);

/** Users, oldest first. */
export function listUsers(tx: Tx, page: { limit: number; offset: number }): Promise<UserRow[]> {
  return tx.rows(statement, [page.limit, page.offset]);
}
