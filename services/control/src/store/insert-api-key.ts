import { sql, type Tx } from "@tidemark/pg";
import { apiKeyColumns, serviceAccountColumns, type ApiKeyRow, type ServiceAccountRow } from "./rows-keys.ts";

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

/** What a key begins with. */
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

/** Makes a key and the service account that it acts for. */
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
