/** An API key. */
export type ApiKeyRow = {
  org_id: string;
  id: string;
  service_account_id: string;
  key_prefix: string;
  name: string;
  scopes: string[];
  project_id: string | null;
  created_at: string;
  expires_at: string | null;
  last_used_at: string | null;
  revoked_at: string | null;
};

/** The account that a key acts for. */
export type ServiceAccountRow = {
  org_id: string;
  id: string;
  name: string;
  created_by_user_id: string | null;
  created_at: string;
  disabled_at: string | null;
};

/** Columns of an ApiKeyRow. */
export const apiKeyColumns = `org_id, id, service_account_id, key_prefix, name, scopes, project_id, created_at, expires_at,
  last_used_at, revoked_at`;

/** Columns of a ServiceAccountRow. */
export const serviceAccountColumns = "org_id, id, name, created_by_user_id, created_at, disabled_at";
