import type { MessageInitShape } from "@bufbuild/protobuf";
import { issueCredential, keyPrefixLength, type Scope } from "@tidemark/credentials";
import { badRequest } from "@tidemark/errors";
import { ACCOUNT_LIMITS } from "@tidemark/limits";
import type { Tx } from "@tidemark/pg";
import type { ApiKeySchema, NewApiKeySchema, ServiceAccountSchema } from "@tidemark/proto/control/v1/control";
import type { ControlDeps } from "../deps.ts";
import { countLiveKeys, insertApiKey, type ApiKeyRow, type ServiceAccountRow } from "./keys.sql.ts";

/**
 * Creates a key in the transaction. Only the returned message ever contains its text.
 * @throws bad_request when the organization has the maximum number of live keys
 */
export async function issueKey(
  tx: Tx,
  { newId, randomBytes, now }: ControlDeps,
  key: {
    orgId: string;
    name: string;
    scopes: readonly Scope[];
    projectId?: string | undefined;
    createdByUserId?: string | undefined;
    expiresAt?: string | undefined;
  },
): Promise<MessageInitShape<typeof NewApiKeySchema>> {
  if ((await countLiveKeys(tx, key.orgId, now())) >= ACCOUNT_LIMITS.liveKeysMax) {
    throw badRequest(
      `an organization has at most ${ACCOUNT_LIMITS.liveKeysMax} live API keys; revoke those that are not used`,
    );
  }
  const credential = issueCredential("api_key", randomBytes);
  const made = await insertApiKey(tx, {
    orgId: key.orgId,
    id: newId(),
    serviceAccountId: newId(),
    credentialId: credential.id,
    hash: credential.hash,
    keyPrefix: credential.text.slice(0, keyPrefixLength),
    name: key.name,
    scopes: key.scopes,
    projectId: key.projectId,
    createdByUserId: key.createdByUserId,
    expiresAt: key.expiresAt,
    now: now(),
  });
  return {
    plaintext: credential.text,
    key: encodeApiKey(made.key),
    serviceAccount: encodeServiceAccount(made.account),
  };
}

/** Returns a key as a message; null becomes the empty text. */
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
    createdByUserId: row.created_by_user_id ?? "",
  };
}

/** Returns a service account as a message; null becomes the empty text. */
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
