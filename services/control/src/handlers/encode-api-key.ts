import type { MessageInitShape } from "@bufbuild/protobuf";
import type { ApiKeySchema, ServiceAccountSchema } from "@tidemark/proto/control/v1/control";
import type { ApiKeyRow, ServiceAccountRow } from "../store/rows-keys.ts";

export function encodeApiKey(row: ApiKeyRow): MessageInitShape<typeof ApiKeySchema> {
  return {
    id: row.id,
    orgId: row.org_id,
    serviceAccountId: row.service_account_id,
    name: row.name,
    keyPrefix: row.key_prefix,
    scopes: row.scopes,
    projectId: row.project_id ?? "",
    createdAt: row.created_at,
    expiresAt: row.expires_at ?? "",
    lastUsedAt: row.last_used_at ?? "",
    revokedAt: row.revoked_at ?? "",
  };
}

export function encodeServiceAccount(row: ServiceAccountRow): MessageInitShape<typeof ServiceAccountSchema> {
  return {
    id: row.id,
    orgId: row.org_id,
    name: row.name,
    createdByUserId: row.created_by_user_id ?? "",
    createdAt: row.created_at,
    disabledAt: row.disabled_at ?? "",
  };
}
