import { sql, type Tx } from "@tidemark/pg";
import type { UserRow } from "../domain/records.ts";
import { userColumns } from "./columns.ts";

const statement = sql("control_find_user_by_email", `SELECT ${userColumns} FROM control.users WHERE email = $1`);

/** A user by address, which is in lower case. */
export function findUserByEmail(tx: Tx, email: string): Promise<UserRow | undefined> {
  return tx.one(statement, [email]);
}
