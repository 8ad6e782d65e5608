import { sql, type Tx } from "@tidemark/pg";
import type { IdentityKey } from "../oidc/oidc.rules.ts";

/** A person. */
export type UserRow = {
  id: string;
  email: string;
  display_name: string | null;
  avatar_url: string | null;
  created_at: string;
  last_seen_at: string | null;
};

const userColumns = "id, email, display_name, avatar_url, created_at, last_seen_at";

const findUserSql = sql("control_find_user", `SELECT ${userColumns} FROM control.users WHERE id = $1`);

/** Returns a user by id. */
export function findUser(tx: Tx, id: string): Promise<UserRow | undefined> {
  return tx.one(findUserSql, [id]);
}

const findUserByEmailSql = sql(
  "control_find_user_by_email",
  `SELECT ${userColumns} FROM control.users WHERE email = $1`,
);

/** Returns a user by address, which is in lower case. */
export function findUserByEmail(tx: Tx, email: string): Promise<UserRow | undefined> {
  return tx.one(findUserByEmailSql, [email]);
}

const lockUserSql = sql("control_lock_user", "SELECT id FROM control.users WHERE id = $1 FOR NO KEY UPDATE");

/** Locks a user, so that one transaction at a time decides about them. */
export async function lockUser(tx: Tx, id: string): Promise<void> {
  await tx.rows(lockUserSql, [id]);
}

const listUsersSql = sql(
  "control_list_users",
  `SELECT ${userColumns} FROM control.users ORDER BY created_at, id LIMIT $1 OFFSET $2`,
);

/** Returns users, oldest first. */
export function listUserRows(tx: Tx, page: { limit: number; offset: number }): Promise<UserRow[]> {
  return tx.rows(listUsersSql, [page.limit, page.offset]);
}

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
 * Inserts a user, or returns the one with this address after filling in the missing fields. The row stays locked
 * until the transaction ends, so that one person's sign-ins run one after another.
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

const findByIdentitySql = sql(
  "control_find_user_by_identity",
  `SELECT u.id, u.email, u.display_name, u.avatar_url, u.created_at, u.last_seen_at
   FROM control.identities i JOIN control.users u ON u.id = i.user_id
   WHERE i.issuer = $1 AND i.subject = $2 FOR NO KEY UPDATE OF u`,
);

/** Returns the user of an identity. The row stays locked until the transaction ends, so that one person's sign-ins run one after another. */
export function findUserByIdentity(tx: Tx, { issuer, subject }: IdentityKey): Promise<UserRow | undefined> {
  return tx.one(findByIdentitySql, [issuer, subject]);
}

const insertIdentitySql = sql(
  "control_insert_identity",
  `INSERT INTO control.identities (issuer, subject, user_id, created_at) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING`,
);

/** Links a user to an identity. Returns false when the user has another identity at the same provider. */
export async function insertIdentity(
  tx: Tx,
  { issuer, subject }: IdentityKey,
  { userId, now }: { readonly userId: string; readonly now: Date },
): Promise<boolean> {
  return (await tx.count(insertIdentitySql, [issuer, subject, userId, now.toISOString()])) > 0;
}
