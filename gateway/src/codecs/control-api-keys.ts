import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  CreateApiKeyRequestSchema,
  CreateApiKeyResponse,
  DisableServiceAccountRequestSchema,
  DisableServiceAccountResponse,
  ListApiKeysRequestSchema,
  ListApiKeysResponse,
  RevokeApiKeyRequestSchema,
  RevokeApiKeyResponse,
} from "@tidemark/proto/control/v1/control";
import type { RouteInput, RouteReply } from "../route.ts";
import { readPage } from "./control-page.ts";
import { apiKeyJson, serviceAccountJson } from "./control-rows.ts";
import { secretReply } from "./control-secret-reply.ts";
import { readOptionalInstant, readOptionalText, readOptionalUuid, readTextList, withFault } from "./fields.ts";
import { requireMessage } from "./runs-message.ts";

const SCOPES_MAX = 64;

/** POST /api/orgs/{org_id}/api-keys. Faults travel in the message, because a missing organization goes before them. */
export function decodeCreateApiKey({ params, body }: RouteInput): MessageInitShape<typeof CreateApiKeyRequestSchema> {
  const { value, fault } = withFault(() => ({
    name: readOptionalText(body, "name", { blank: "absent" }) ?? "",
    scopes: readTextList(body, "scopes", { itemsMin: 1, itemsMax: SCOPES_MAX }) ?? [],
    projectId: readOptionalUuid(body, "project_id") ?? "",
    project: readOptionalText(body, "project", { blank: "absent" }) ?? "",
    expiresAt: readOptionalInstant(body, "expires_at")?.text ?? "",
    createdByUserId: readOptionalUuid(body, "created_by_user_id") ?? "",
  }));
  return { orgId: params["org_id"]!, ...value, bodyFault: fault };
}

/** `{api_key, api_key_available, message, key, service_account}`; the only answer that ever holds the key's text. */
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
  return { orgId: params["org_id"]!, page: readPage(query) };
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
