import { route, type Route, type Schema } from "../../route.ts";
import { signedInAdmins } from "../callers.ts";
import { objectSchema, textOrNullSchema, textSchema, uuidSchema } from "../schemas.ts";
import {
  confirmDeviceLoginBody,
  decodeConfirmDeviceLogin,
  decodePollDeviceLogin,
  decodeStartDeviceLogin,
  encodeConfirmDeviceLogin,
  encodePollDeviceLogin,
  encodeStartDeviceLogin,
  pollDeviceLoginBody,
  startDeviceLoginBody,
} from "./device-login.ts";

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
