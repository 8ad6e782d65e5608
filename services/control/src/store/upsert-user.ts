import { sql, type Tx } from "@tidemark/pg";
import { userColumns, type UserRow } from "./rows-users.ts";

const upsertUserSql = sql(
  "control_upsert_user",
  `INSERT INTO control.users AS u (id, email, display_name, avatar_url, created_at)
   VALUES ($1, $2, $3, $4, $5)
   ON CONFLICT (email) DO UPDATE SET
     display_name = coalesce(u.display_name, excluded.display_name),
     avatar_url = coalesce(u.avatar_url, excluded.avatar_url)
   RETURNING ${userColumns}`,
);

/**
 * Makes a user, or takes the one with this address and fills in what is not known of them. The row
 * stays locked until the transaction ends, so that one person's sign-ins go one after another.
 */
export async function upsertUser(
  tx: Tx,
  user: { id: string; email: string; displayName: string; avatarUrl: string; now: Date },
): Promise<UserRow> {
  const row = await tx.one<UserRow>(upsertUserSql, [
    user.id,
    user.email,
    user.displayName || null,
    user.avatarUrl || null,
    user.now.toISOString(),
  ]);
  return row!;
}
