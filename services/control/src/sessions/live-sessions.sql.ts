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
