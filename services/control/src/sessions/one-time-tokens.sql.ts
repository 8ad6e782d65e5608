import { sql, type Tx } from "@tidemark/pg";

/** The member whose session a token opens. */
type TokenOwner = { readonly orgId: string; readonly userId: string };

const sweepSql = sql("control_sweep_one_time_tokens", "DELETE FROM control.one_time_tokens WHERE expires_at <= $1");
const insertSql = sql(
  "control_insert_one_time_token",
  "INSERT INTO control.one_time_tokens (credential_id, hash, org_id, user_id, expires_at) VALUES ($1, $2, $3, $4, $5)",
);

/** Inserts a token, and deletes those that were never used in time. */
export async function insertOneTimeToken(
  tx: Tx,
  token: TokenOwner & {
    readonly credentialId: string;
    readonly hash: Uint8Array;
    readonly now: Date;
    readonly expiresAt: Date;
  },
): Promise<void> {
  await tx.count(sweepSql, [token.now.toISOString()]);
  const { credentialId, hash, orgId, userId, expiresAt } = token;
  await tx.count(insertSql, [credentialId, hash, orgId, userId, expiresAt.toISOString()]);
}

const takeSql = sql(
  "control_take_one_time_token",
  `DELETE FROM control.one_time_tokens WHERE credential_id = $1 AND hash = $2 AND expires_at > $3
   RETURNING org_id AS "orgId", user_id AS "userId"`,
);

/** Deletes a valid token and returns its owner; undefined for any other token. Of two simultaneous calls one gets it. */
export function takeOneTimeToken(
  tx: Tx,
  { id, hash }: { readonly id: string; readonly hash: Uint8Array },
  now: Date,
): Promise<TokenOwner | undefined> {
  return tx.one(takeSql, [id, hash, now.toISOString()]);
}
