/** A browser's session. */
export type SessionRow = {
  org_id: string;
  id: string;
  user_id: string;
  created_at: string;
  last_seen_at: string | null;
  expires_at: string;
  revoked_at: string | null;
};

/** Columns of a SessionRow. */
export const sessionColumns = "org_id, id, user_id, created_at, last_seen_at, expires_at, revoked_at";
