import { sql, type Tx } from "@tidemark/pg";
import { userColumns, type UserRow } from "./rows-users.ts";

const findUserByEmailSql = sql(
  "control_find_user_by_email",
  `SELECT ${userColumns} FROM control.users WHERE email = $1`,
);

/** A user by address, which is in lower case. */
export function findUserByEmail(tx: Tx, email: string): Promise<UserRow | undefined> {
  return tx.one(findUserByEmailSql, [email]);
}
