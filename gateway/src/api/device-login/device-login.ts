import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  ConfirmDeviceLoginRequestSchema,
  PollDeviceLoginRequestSchema,
  PollDeviceLoginResponse,
  StartDeviceLoginRequestSchema,
  StartDeviceLoginResponse,
} from "@tidemark/proto/control/v1/control";
import type { RouteInput, RouteReply } from "../../route.ts";
import { described, object, withDefault } from "../fields/field.ts";
import { text, textOrEmpty } from "../fields/text.ts";
import { requireMessage, secretReply, textOrNull } from "../replies.ts";

/** Body of POST /api/auth/device-code/start: the device may describe itself. */
export const startDeviceLoginBody = object({
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
export const pollDeviceLoginBody = object({ device_code: text() });

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
export const confirmDeviceLoginBody = object({ user_code: described(text(), "In any letter case.") });

/** POST /api/auth/device-code/confirm. @throws bad_request */
export function decodeConfirmDeviceLogin({
  body,
}: RouteInput): MessageInitShape<typeof ConfirmDeviceLoginRequestSchema> {
  return confirmDeviceLoginBody.read(body);
}

/** `{confirmed: true}`. */
export function encodeConfirmDeviceLogin(): RouteReply {
  return { body: { confirmed: true } };
}
