import { sql, type Tx } from "@tidemark/pg";

/** A live session, with its owner. */
export type LiveSessionRow = {
  org_id: string;
  id: string;
  /** Null for a session of a key. */
  user_id: string | null;
  /** Its id in its text. */
  credential_id: string;
  created_at: string;
  last_seen_at: string | null;
  expires_at: string;
  organization_name: string;
  email: string | null;
  display_name: string | null;
  avatar_url: string | null;
  /** The row id of the key that it was made from. */
  key_id: string | null;
};

type Page = { readonly limit: number; readonly offset: number };

const ofUserSql = sql(
  "control_live_sessions_of_user",
  `SELECT s.org_id, s.id, s.user_id, s.credential_id, s.created_at, s.last_seen_at, s.expires_at, s.organization_name,
     u.email, u.display_name, u.avatar_url, NULL::uuid AS key_id
   FROM control.live_sessions_of($1, $2) s JOIN control.users u ON u.id = s.user_id LIMIT $3 OFFSET $4`,
);

/** Returns the sessions of a user in all organizations, newest first. */
export function listSessionsOfUser(tx: Tx, userId: string, now: Date, page: Page): Promise<LiveSessionRow[]> {
  return tx.rows(ofUserSql, [userId, now.toISOString(), page.limit, page.offset]);
}

const inOrganization = `SELECT s.org_id, s.id, s.user_id, s.credential_id, s.created_at, s.last_seen_at, s.expires_at,
     o.name AS organization_name, u.email, u.display_name, u.avatar_url, k.id AS key_id
   FROM control.sessions s
   JOIN control.organizations o ON o.org_id = s.org_id
   LEFT JOIN control.users u ON u.id = s.user_id
   LEFT JOIN control.api_keys k ON k.org_id = s.org_id AND k.credential_id = s.key_id
   WHERE s.org_id = $1 AND s.revoked_at IS NULL AND s.expires_at > $2`;

const ofOrganizationSql = sql(
  "control_live_sessions_of_organization",
  `${inOrganization} ORDER BY s.created_at DESC, s.id LIMIT $3 OFFSET $4`,
);

/** Returns the sessions of all users and keys in an organization, newest first. */
export function listSessionsOfOrganization(tx: Tx, orgId: string, now: Date, page: Page): Promise<LiveSessionRow[]> {
  return tx.rows(ofOrganizationSql, [orgId, now.toISOString(), page.limit, page.offset]);
}

const findSql = sql("control_find_live_session", `${inOrganization} AND s.id = $3`);

/** Returns a session of an organization. */
export function findLiveSession(tx: Tx, orgId: string, id: string, now: Date): Promise<LiveSessionRow | undefined> {
  return tx.one(findSql, [orgId, now.toISOString(), id]);
}

const orgOfOwnSql = sql(
  "control_org_of_own_session",
  "SELECT org_id FROM control.live_sessions_of($1, $2) WHERE id = $3",
);

/** Returns in which organization a session of a user is. */
export async function organizationOfOwnSession(
  tx: Tx,
  userId: string,
  id: string,
  now: Date,
): Promise<string | undefined> {
  return (await tx.one<{ org_id: string }>(orgOfOwnSql, [userId, now.toISOString(), id]))?.org_id;
}

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
