import { sql, type Tx } from "@tidemark/pg";

/** An API key. */
export type ApiKeyRow = {
  org_id: string;
  id: string;
  /** The id in its text. */
  credential_id: string;
  service_account_id: string;
  key_prefix: string;
  name: string;
  scopes: string[];
  project_id: string | null;
  created_at: string;
  expires_at: string | null;
  last_used_at: string | null;
  revoked_at: string | null;
  created_by_user_id: string | null;
};

/** The id of a key, and the id in its text. */
export type KeyIds = Pick<ApiKeyRow, "id" | "credential_id">;

/** The account that a key acts for. */
export type ServiceAccountRow = {
  org_id: string;
  id: string;
  name: string;
  created_by_user_id: string | null;
  created_at: string;
  disabled_at: string | null;
};

// The maker of a key is a column of its account; each key has its own account.
const apiKeyColumns = `org_id, id, credential_id, service_account_id, key_prefix, name, scopes, project_id, created_at, expires_at,
  last_used_at, revoked_at,
  (SELECT a.created_by_user_id FROM control.service_accounts a
   WHERE a.org_id = api_keys.org_id AND a.id = api_keys.service_account_id) AS created_by_user_id`;

const serviceAccountColumns = "org_id, id, name, created_by_user_id, created_at, disabled_at";

const insertServiceAccountSql = sql(
  "control_insert_service_account",
  `INSERT INTO control.service_accounts (org_id, id, name, created_by_user_id, created_at)
   VALUES ($1, $2, $3, $4, $5) RETURNING ${serviceAccountColumns}`,
);

const insertApiKeySql = sql(
  "control_insert_api_key",
  `INSERT INTO control.api_keys
     (org_id, id, service_account_id, credential_id, hash, key_prefix, name, scopes, project_id, created_at, expires_at)
   VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) RETURNING ${apiKeyColumns}`,
);

/** The fields of a new key. */
export type NewKey = {
  orgId: string;
  id: string;
  serviceAccountId: string;
  credentialId: string;
  hash: Uint8Array;
  keyPrefix: string;
  name: string;
  scopes: readonly string[];
  projectId: string | undefined;
  createdByUserId: string | undefined;
  expiresAt: string | undefined;
  now: Date;
};

/** Inserts a key and the service account that it acts for. */
export async function insertApiKey(tx: Tx, key: NewKey): Promise<{ key: ApiKeyRow; account: ServiceAccountRow }> {
  const now = key.now.toISOString();
  const account = await tx.one<ServiceAccountRow>(insertServiceAccountSql, [
    key.orgId,
    key.serviceAccountId,
    key.name,
    key.createdByUserId ?? null,
    now,
  ]);
  const row = await tx.one<ApiKeyRow>(insertApiKeySql, [
    key.orgId,
    key.id,
    key.serviceAccountId,
    key.credentialId,
    key.hash,
    key.keyPrefix,
    key.name,
    key.scopes,
    key.projectId ?? null,
    now,
    key.expiresAt ?? null,
  ]);
  return { key: row!, account: account! };
}

const lockKeysSql = sql(
  "control_lock_keys",
  "SELECT pg_advisory_xact_lock(hashtextextended('control.keys ' || $1, 0))",
);
const countLiveKeysSql = sql(
  "control_count_live_keys",
  `SELECT count(*) AS total FROM control.api_keys
   WHERE org_id = $1 AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > $2)`,
);

/** Returns how many keys of an organization work. Other transactions that create keys of the organization wait from here to the end of this one. */
export async function countLiveKeys(tx: Tx, orgId: string, now: Date): Promise<number> {
  await tx.rows(lockKeysSql, [orgId]);
  return (await tx.one<{ total: number }>(countLiveKeysSql, [orgId, now.toISOString()]))!.total;
}

const listApiKeysSql = sql(
  "control_list_api_keys",
  `SELECT ${apiKeyColumns} FROM control.api_keys WHERE org_id = $1
   ORDER BY created_at DESC, id LIMIT $2 OFFSET $3`,
);

/** Returns an organization's keys, newest first, revoked ones included. */
export function listApiKeyRows(tx: Tx, orgId: string, page: { limit: number; offset: number }): Promise<ApiKeyRow[]> {
  return tx.rows(listApiKeysSql, [orgId, page.limit, page.offset]);
}

const lockApiKeySql = sql(
  "control_lock_api_key",
  `SELECT ${apiKeyColumns} FROM control.api_keys WHERE org_id = $1 AND id = $2 FOR UPDATE`,
);
// The caller checks in the rows whether a key was revoked: with the condition in the statement, PostgreSQL reads every live key of the organization.
const lockKeysOfAccountSql = sql(
  "control_lock_keys_of_account",
  `SELECT id, credential_id, revoked_at FROM control.api_keys WHERE org_id = $1 AND service_account_id = $2 ORDER BY id FOR UPDATE`,
);

/** Returns a key, revoked or not. No other transaction changes it until this one ends. */
export function lockApiKey(tx: Tx, orgId: string, id: string): Promise<ApiKeyRow | undefined> {
  return tx.one(lockApiKeySql, [orgId, id]);
}

/** Returns the keys of a service account that were not revoked. No other transaction revokes them until this one ends. */
export async function lockLiveKeysOfAccount(tx: Tx, orgId: string, serviceAccountId: string): Promise<KeyIds[]> {
  const keys = await tx.rows<KeyIds & Pick<ApiKeyRow, "revoked_at">>(lockKeysOfAccountSql, [orgId, serviceAccountId]);
  return keys.filter((key) => key.revoked_at === null);
}

const revokeApiKeySql = sql(
  "control_revoke_api_key",
  `UPDATE control.api_keys SET revoked_at = coalesce(revoked_at, $3), changed_xid = pg_current_xact_id()
   WHERE org_id = $1 AND id = $2
   RETURNING ${apiKeyColumns}`,
);

/** Revokes a key. Returns undefined when there is no such key. */
export function revokeApiKeyRow(tx: Tx, orgId: string, id: string, now: Date): Promise<ApiKeyRow | undefined> {
  return tx.one(revokeApiKeySql, [orgId, id, now.toISOString()]);
}

const endSessionsSql = sql(
  "control_end_sessions_of_keys",
  `UPDATE control.sessions SET revoked_at = $3, changed_xid = pg_current_xact_id()
   WHERE org_id = $1 AND revoked_at IS NULL AND key_id IS NOT NULL AND key_id = ANY ($2::text[])`,
);

/** Ends the sessions of keys that were revoked, after the revoking statement, so that it also ends sessions that were opened meanwhile. */
export async function endSessionsOfKeys(tx: Tx, orgId: string, keys: readonly KeyIds[], now: Date): Promise<void> {
  const ids = keys.map(({ credential_id: id }) => id);
  if (ids.length > 0) await tx.count(endSessionsSql, [orgId, ids, now.toISOString()]);
}

const disableServiceAccountSql = sql(
  "control_disable_service_account",
  `WITH keys AS (
     UPDATE control.api_keys SET revoked_at = coalesce(revoked_at, $3), changed_xid = pg_current_xact_id()
     WHERE org_id = $1 AND service_account_id = $2
   )
   UPDATE control.service_accounts SET disabled_at = coalesce(disabled_at, $3)
   WHERE org_id = $1 AND id = $2
   RETURNING ${serviceAccountColumns}`,
);

/** Disables a service account and revokes its key. Returns undefined when there is no such account. */
export function disableServiceAccountRow(
  tx: Tx,
  orgId: string,
  id: string,
  now: Date,
): Promise<ServiceAccountRow | undefined> {
  return tx.one(disableServiceAccountSql, [orgId, id, now.toISOString()]);
}
