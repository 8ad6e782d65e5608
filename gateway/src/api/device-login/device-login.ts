import type { MessageInitShape } from "@bufbuild/protobuf";
import { badRequest } from "@tidemark/errors";
import type {
  ConfirmDeviceLoginRequestSchema,
  PollDeviceLoginRequestSchema,
  PollDeviceLoginResponse,
  StartDeviceLoginRequestSchema,
  StartDeviceLoginResponse,
} from "@tidemark/proto/control/v1/control";
import type { RouteInput, RouteReply } from "../../route.ts";
import { present, readOptionalText, readText, type Fields } from "../fields/index.ts";
import { requireMessage, secretReply, textOrNull } from "../replies.ts";

/** POST /api/auth/device-code/start; the device may describe itself. @throws bad_request */
export function decodeStartDeviceLogin({
  body,
  baseUrl,
}: RouteInput): MessageInitShape<typeof StartDeviceLoginRequestSchema> {
  const info = present(body, "client_info") ?? {};
  if (typeof info !== "object" || Array.isArray(info)) throw badRequest("client_info must be an object", "client_info");
  const fields = info as Fields;
  return {
    clientName: readOptionalText(fields, "name", { blank: "absent" }) ?? "",
    clientVersion: readOptionalText(fields, "version", { blank: "absent" }) ?? "",
    baseUrl,
  };
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

/** POST /api/auth/device-code/poll. @throws bad_request */
export function decodePollDeviceLogin({ body }: RouteInput): MessageInitShape<typeof PollDeviceLoginRequestSchema> {
  return { deviceCode: readText(body, "device_code") };
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

/** POST /api/auth/device-code/confirm. @throws bad_request */
export function decodeConfirmDeviceLogin({
  body,
}: RouteInput): MessageInitShape<typeof ConfirmDeviceLoginRequestSchema> {
  return { userCode: readText(body, "user_code") };
}

/** `{confirmed: true}`. */
export function encodeConfirmDeviceLogin(): RouteReply {
  return { body: { confirmed: true } };
}
