import { sql, type Tx } from "@tidemark/pg";
import type { UserRow } from "../domain/records.ts";
import { userColumns } from "./columns.ts";

const statement = sql("control_find_user", `SELECT ${userColumns} FROM control.users WHERE id = $1`);

/** A user by id. */
export function findUser(tx: Tx, id: string): Promise<UserRow | undefined> {
  return tx.one(statement, [id]);
}
