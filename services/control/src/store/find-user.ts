import { sql, type Tx } from "@tidemark/pg";
import { userColumns, type UserRow } from "./rows-users.ts";

const findUserSql = sql("control_find_user", `SELECT ${userColumns} FROM control.users WHERE id = $1`);

/** A user by id. */
export function findUser(tx: Tx, id: string): Promise<UserRow | undefined> {
  return tx.one(findUserSql, [id]);
}
