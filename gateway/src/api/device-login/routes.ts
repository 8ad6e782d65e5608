import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  ConfirmDeviceLoginRequestSchema,
  PollDeviceLoginRequestSchema,
  PollDeviceLoginResponse,
  StartDeviceLoginRequestSchema,
  StartDeviceLoginResponse,
} from "@tidemark/proto/control/v1/control";
import { route, type Route, type RouteInput, type RouteReply, type Schema } from "../../route.ts";
import { described, object, withDefault } from "../fields/field.ts";
import { text, textOrEmpty } from "../fields/text.ts";
import {
  objectSchema,
  requireMessage,
  secretReply,
  textOrNull,
  textOrNullSchema,
  textSchema,
  uuidSchema,
} from "../replies.ts";
import { signedInAdmins } from "../callers.ts";

/** Body of POST /api/auth/device-code/start: the device may describe itself. */
const startDeviceLoginBody = object({
  client_info: withDefault(object({ name: textOrEmpty(), version: textOrEmpty() }), { name: "", version: "" }),
});

/** POST /api/auth/device-code/start. @throws bad_request */
export function decodeStartDeviceLogin({
  body,
  baseUrl,
}: RouteInput): MessageInitShape<typeof StartDeviceLoginRequestSchema> {
  const { clientInfo } = startDeviceLoginBody.read(body);
  return { clientName: clientInfo.name, clientVersion: clientInfo.version, baseUrl };
}

/** `{device_code, user_code, verification_uri, verification_uri_complete, expires_in, interval}` (RFC 8628, 3.2). */
export function encodeStartDeviceLogin(login: StartDeviceLoginResponse): RouteReply {
  return secretReply({
    device_code: login.deviceCode,
    user_code: login.userCode,
    verification_uri: login.verificationUri,
    verification_uri_complete: `${login.verificationUri}?code=${login.userCode}`,
    expires_in: login.expiresInSeconds,
    interval: login.intervalSeconds,
  });
}

/** Body of POST /api/auth/device-code/poll. */
const pollDeviceLoginBody = object({ device_code: text() });

/** POST /api/auth/device-code/poll. @throws bad_request */
export function decodePollDeviceLogin({ body }: RouteInput): MessageInitShape<typeof PollDeviceLoginRequestSchema> {
  return pollDeviceLoginBody.read(body);
}

/** `{status}`; once, when it is `authorized`, also the key, its organization and who approved. */
export function encodePollDeviceLogin({ status, created, organization, user }: PollDeviceLoginResponse): RouteReply {
  if (created === undefined) return secretReply({ status });
  const { id, keyPrefix } = requireMessage(created.key);
  const { id: orgId, name, slug } = requireMessage(organization);
  const { primaryEmail, displayName } = requireMessage(user);
  return secretReply({
    status,
    api_key: { plaintext: created.plaintext, prefix: keyPrefix, id },
    org: { id: orgId, name, slug },
    user: { primary_email: primaryEmail, display_name: textOrNull(displayName) },
  });
}

/** Body of POST /api/auth/device-code/confirm. */
const confirmDeviceLoginBody = object({ user_code: described(text(), "In any letter case.") });

/** POST /api/auth/device-code/confirm. @throws bad_request */
export function decodeConfirmDeviceLogin({
  body,
}: RouteInput): MessageInitShape<typeof ConfirmDeviceLoginRequestSchema> {
  return confirmDeviceLoginBody.read(body);
}

/** `{confirmed: true}`. */
function encodeConfirmDeviceLogin(): RouteReply {
  return { body: { confirmed: true } };
}

const facts = { tag: "device login", idempotency: "none", body: "required" } as const;
const anyone = { kind: "anyone" } as const;
const seconds: Schema = { type: "integer", minimum: 1, description: "Seconds." };

/** Logins from devices without a browser (RFC 8628). */
export const deviceLoginRoutes: readonly Route[] = [
  route({
    ...facts,
    method: "POST",
    path: "/api/auth/device-code/start",
    summary: "Begin a login from a device without a browser",
    callers: anyone,
    rate: "general",
    body: "optional",
    schemas: {
      body: startDeviceLoginBody.schema,
      response: objectSchema({
        device_code: textSchema,
        user_code: { type: "string", pattern: "^[A-HJ-NP-Z2-9]{4}-[A-HJ-NP-Z2-9]{4}$" },
        verification_uri: { type: "string", format: "uri" },
        verification_uri_complete: { type: "string", format: "uri" },
        expires_in: seconds,
        interval: seconds,
      }),
    },
    statuses: [200, 400],
    decode: decodeStartDeviceLogin,
    rpc: (clients, request, call) => clients.control.startDeviceLogin(request, call),
    encode: encodeStartDeviceLogin,
  }),
  route({
    ...facts,
    method: "POST",
    path: "/api/auth/device-code/poll",
    summary: "Ask how a device login stands",
    description: "Hands out the key once. Asking far more often than the interval is answered 429 with code slow_down.",
    callers: anyone,
    rate: "general",
    schemas: {
      body: pollDeviceLoginBody.schema,
      response: {
        type: "object",
        required: ["status"],
        properties: {
          status: { type: "string", enum: ["pending", "authorized", "denied", "expired"] },
          api_key: objectSchema({ plaintext: textSchema, prefix: textSchema, id: uuidSchema }),
          org: objectSchema({ id: uuidSchema, name: textSchema, slug: textSchema }),
          user: objectSchema({ primary_email: textSchema, display_name: textOrNullSchema }),
        },
      },
    },
    statuses: [200, 400, 404, 429],
    decode: decodePollDeviceLogin,
    rpc: (clients, request, call) => clients.control.pollDeviceLogin(request, call),
    encode: encodePollDeviceLogin,
  }),
  route({
    ...facts,
    method: "POST",
    path: "/api/auth/device-code/confirm",
    summary: "Approve a device login for the session's organization",
    callers: signedInAdmins,
    rate: "account",
    schemas: {
      body: confirmDeviceLoginBody.schema,
      response: objectSchema({ confirmed: { const: true } }),
    },
    statuses: [200, 400, 401, 402, 403, 404, 409],
    decode: decodeConfirmDeviceLogin,
    rpc: (clients, request, call) => clients.control.confirmDeviceLogin(request, call),
    encode: encodeConfirmDeviceLogin,
  }),
];
