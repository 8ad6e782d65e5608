import type { MessageInitShape } from "@bufbuild/protobuf";
import { scopes } from "@tidemark/credentials";
import type {
  ApiKey,
  CreateApiKeyRequestSchema,
  CreateApiKeyResponse,
  DisableServiceAccountRequestSchema,
  DisableServiceAccountResponse,
  ListApiKeysRequestSchema,
  ListApiKeysResponse,
  RevokeApiKeyRequestSchema,
  RevokeApiKeyResponse,
  ServiceAccount,
} from "@tidemark/proto/control/v1/control";
import type { Json } from "../../http/json.ts";
import type { RouteInput, RouteReply, Schema } from "../../route.ts";
import { described, list, object, withDefault, withFault } from "../fields/field.ts";
import { instantText } from "../fields/instant.ts";
import { maybeBlankText, text, textOrEmpty, uuid } from "../fields/text.ts";
import { accountsPage, readPage } from "../parameters.ts";
import {
  booleanSchema,
  listSchema,
  objectSchema,
  requireMessage,
  secretReply,
  textOrNull,
  textOrNullSchema,
  textSchema,
  timeOrNullSchema,
  timeSchema,
  uuidOrNullSchema,
  uuidSchema,
} from "../replies.ts";

const scopeSchema: Schema = { type: "string", enum: scopes };

// The service knows the scopes; this reads any text.
const scope = { ...text(), schema: scopeSchema };

/** A key without its text. */
export const apiKeySchema = objectSchema({
  id: uuidSchema,
  org_id: uuidSchema,
  service_account_id: uuidSchema,
  name: textSchema,
  key_prefix: { type: "string", description: "The first 14 characters." },
  scopes: listSchema(scopeSchema),
  project_id: uuidOrNullSchema,
  created_at: timeSchema,
  expires_at: timeOrNullSchema,
  last_used_at: timeOrNullSchema,
  revoked_at: timeOrNullSchema,
  created_by_user_id: {
    ...uuidOrNullSchema,
    description: "Who made it, or made the key that made it; null for keys of the operator.",
  },
});

/** An API key without its text. */
function apiKeyJson(key: ApiKey): Json {
  return {
    id: key.id,
    org_id: key.orgId,
    service_account_id: key.serviceAccountId,
    name: key.name,
    key_prefix: key.keyPrefix,
    scopes: key.scopes,
    project_id: textOrNull(key.projectId),
    created_at: key.createdAt,
    expires_at: textOrNull(key.expiresAt),
    last_used_at: textOrNull(key.lastUsedAt),
    revoked_at: textOrNull(key.revokedAt),
    created_by_user_id: textOrNull(key.createdByUserId),
  };
}

/** The account that a key acts for. */
export const serviceAccountSchema = objectSchema({
  id: uuidSchema,
  org_id: uuidSchema,
  name: textSchema,
  created_by_user_id: uuidOrNullSchema,
  created_at: timeSchema,
  disabled_at: timeOrNullSchema,
});

/** The account that a key acts for. */
function serviceAccountJson(account: ServiceAccount): Json {
  return {
    id: account.id,
    org_id: account.orgId,
    name: account.name,
    created_by_user_id: textOrNull(account.createdByUserId),
    created_at: account.createdAt,
    disabled_at: textOrNull(account.disabledAt),
  };
}

/** Body of POST /api/orgs/{org_id}/api-keys. */
export const createApiKeyBody = object({
  name: withDefault(maybeBlankText(), "", { default: "SDK API key" }),
  scopes: withDefault(list(scope, { itemsMin: 1, itemsMax: 64 }), [], { default: ["sdk:ingest", "export:read"] }),
  project_id: described(withDefault(uuid(), ""), "The one project that the key may see."),
  project: described(textOrEmpty(), "The same by its name."),
  expires_at: described(withDefault(instantText, ""), "In the future."),
  created_by_user_id: described(withDefault(uuid(), ""), "For operators; otherwise it is the caller."),
});

/** POST /api/orgs/{org_id}/api-keys. Faults travel in the message, because a missing organization takes precedence. */
export function decodeCreateApiKey({ params, body }: RouteInput): MessageInitShape<typeof CreateApiKeyRequestSchema> {
  const { value, fault } = withFault(() => createApiKeyBody.read(body));
  return { orgId: params["org_id"]!, ...value, bodyFault: fault };
}

/** A key with its text. */
export const newApiKeySchema = objectSchema({
  api_key: { type: "string", description: "The key itself, shown in this answer only." },
  api_key_available: booleanSchema,
  message: textOrNullSchema,
  key: apiKeySchema,
  service_account: serviceAccountSchema,
});

/** `{api_key, api_key_available, message, key, service_account}`; the only answer that holds the key's text. */
export function encodeCreateApiKey({ created }: CreateApiKeyResponse): RouteReply {
  const { plaintext, key, serviceAccount } = requireMessage(created);
  return secretReply({
    api_key: plaintext,
    api_key_available: true,
    message: null,
    key: apiKeyJson(requireMessage(key)),
    service_account: serviceAccountJson(requireMessage(serviceAccount)),
  });
}

/** GET /api/orgs/{org_id}/api-keys. @throws bad_request */
export function decodeListApiKeys({ params, query }: RouteInput): MessageInitShape<typeof ListApiKeysRequestSchema> {
  return { orgId: params["org_id"]!, page: readPage(accountsPage, query) };
}

/** `{api_keys}`. */
export function encodeListApiKeys({ keys }: ListApiKeysResponse): RouteReply {
  return { body: { api_keys: keys.map(apiKeyJson) } };
}

/** POST /api/orgs/{org_id}/api-keys/{key_id}/revoke. */
export function decodeRevokeApiKey({ params }: RouteInput): MessageInitShape<typeof RevokeApiKeyRequestSchema> {
  return { orgId: params["org_id"]!, keyId: params["key_id"]! };
}

/** `{key}`. */
export function encodeRevokeApiKey({ key }: RevokeApiKeyResponse): RouteReply {
  return { body: { key: apiKeyJson(requireMessage(key)) } };
}

/** POST /api/orgs/{org_id}/service-accounts/{service_account_id}/disable. */
export function decodeDisableServiceAccount({
  params,
}: RouteInput): MessageInitShape<typeof DisableServiceAccountRequestSchema> {
  return { orgId: params["org_id"]!, serviceAccountId: params["service_account_id"]! };
}

/** `{service_account}`. */
export function encodeDisableServiceAccount({ serviceAccount }: DisableServiceAccountResponse): RouteReply {
  return { body: { service_account: serviceAccountJson(requireMessage(serviceAccount)) } };
}
