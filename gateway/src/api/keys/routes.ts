import { route, type Route } from "../../route.ts";
import { keyManagers } from "../callers.ts";
import { accountsPage } from "../parameters.ts";
import { listSchema, objectSchema } from "../replies.ts";
import {
  apiKeySchema,
  createApiKeyBody,
  decodeCreateApiKey,
  decodeDisableServiceAccount,
  decodeListApiKeys,
  decodeRevokeApiKey,
  encodeCreateApiKey,
  encodeDisableServiceAccount,
  encodeListApiKeys,
  encodeRevokeApiKey,
  newApiKeySchema,
  serviceAccountSchema,
} from "./keys.ts";

const facts = { tag: "api keys", callers: keyManagers, rate: "account", idempotency: "none" } as const;

/** API keys and the service accounts that they act for. */
export const keysRoutes: readonly Route[] = [
  route({
    ...facts,
    method: "POST",
    path: "/api/orgs/{org_id}/api-keys",
    summary: "Make an API key",
    description: "A caller grants only scopes that they hold themselves. A key that is bound to a project makes none.",
    body: "optional",
    schemas: { body: createApiKeyBody.schema, response: newApiKeySchema },
    statuses: [200, 400, 401, 402, 403, 404],
    decode: decodeCreateApiKey,
    rpc: (clients, request, call) => clients.control.createApiKey(request, call),
    encode: encodeCreateApiKey,
  }),
  route({
    ...facts,
    method: "GET",
    path: "/api/orgs/{org_id}/api-keys",
    summary: "An organization's API keys, newest first",
    description: "Revoked ones are among them; no answer holds a key's text.",
    schemas: { query: accountsPage.schema, response: objectSchema({ api_keys: listSchema(apiKeySchema) }) },
    statuses: [200, 400, 401, 403, 404],
    decode: decodeListApiKeys,
    rpc: (clients, request, call) => clients.control.listApiKeys(request, call),
    encode: encodeListApiKeys,
  }),
  route({
    ...facts,
    method: "POST",
    path: "/api/orgs/{org_id}/api-keys/{key_id}/revoke",
    summary: "End an API key",
    description: "Repeating it changes nothing.",
    changesAccess: true,
    schemas: { response: objectSchema({ key: apiKeySchema }) },
    statuses: [200, 401, 403, 404],
    decode: decodeRevokeApiKey,
    rpc: (clients, request, call) => clients.control.revokeApiKey(request, call),
    encode: encodeRevokeApiKey,
  }),
  route({
    ...facts,
    method: "POST",
    path: "/api/orgs/{org_id}/service-accounts/{service_account_id}/disable",
    summary: "End a service account and its key",
    description: "Repeating it changes nothing.",
    changesAccess: true,
    schemas: { response: objectSchema({ service_account: serviceAccountSchema }) },
    statuses: [200, 401, 403, 404],
    decode: decodeDisableServiceAccount,
    rpc: (clients, request, call) => clients.control.disableServiceAccount(request, call),
    encode: encodeDisableServiceAccount,
  }),
];
