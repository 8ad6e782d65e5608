import { sql, type Tx } from "@tidemark/pg";
import type { UserRow } from "../organizations/users.sql.ts";
import type { IdentityKey } from "./claims.rules.ts";

const findSql = sql(
  "control_find_user_by_identity",
  `SELECT u.id, u.email, u.display_name, u.avatar_url, u.created_at, u.last_seen_at
   FROM control.identities i JOIN control.users u ON u.id = i.user_id
   WHERE i.issuer = $1 AND i.subject = $2 FOR NO KEY UPDATE OF u`,
);

/** Returns the user of an identity. The row stays locked until the transaction ends, so that one person's sign-ins run one after another. */
export function findUserByIdentity(tx: Tx, { issuer, subject }: IdentityKey): Promise<UserRow | undefined> {
  return tx.one(findSql, [issuer, subject]);
}

const insertSql = sql(
  "control_insert_identity",
  `INSERT INTO control.identities (issuer, subject, user_id, created_at) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING`,
);

/** Links a user to an identity. Returns false when the user has another identity at the same provider. */
export async function insertIdentity(
  tx: Tx,
  { issuer, subject }: IdentityKey,
  { userId, now }: { readonly userId: string; readonly now: Date },
): Promise<boolean> {
  return (await tx.count(insertSql, [issuer, subject, userId, now.toISOString()])) > 0;
}
