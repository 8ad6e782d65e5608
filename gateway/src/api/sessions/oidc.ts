import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  FinishOidcLoginRequestSchema,
  FinishOidcLoginResponse,
  StartOidcLoginRequestSchema,
  StartOidcLoginResponse,
} from "@tidemark/proto/control/v1/control";
import { basePathOf, withBasePath } from "../../http/base-path.ts";
import { loginCookie } from "../../http/headers.ts";
import type { EncoderInput, RouteInput, RouteReply } from "../../route.ts";
import { described, object, withDefault } from "../fields/field.ts";
import { textOrEmpty, uuid } from "../fields/text.ts";
import { requireMessage, secretReply } from "../replies.ts";
import { cookieHeader, cookieOf, sessionJson } from "./sessions.ts";

/** How long a person may take to sign in at the provider. */
const LOGIN_SECONDS = 600;

/** Query of GET /api/auth/oidc/start. */
export const startOidcQuery = object({
  return_to: described(
    textOrEmpty(),
    "A path on this site to go to afterwards; without one the answer is the session.",
  ),
  accept_invite_org_id: withDefault(uuid(), ""),
});

/** GET /api/auth/oidc/start. @throws bad_request */
export function decodeStartOidc({ query, baseUrl }: RouteInput): MessageInitShape<typeof StartOidcLoginRequestSchema> {
  return { ...startOidcQuery.read(query), baseUrl };
}

/** Sends the browser to the provider, with what it keeps until it is back. */
export function encodeStartOidc(
  { url, secret }: StartOidcLoginResponse,
  _request: unknown,
  input: EncoderInput,
): RouteReply {
  const headers = { "set-cookie": cookieHeader(loginCookie, secret, LOGIN_SECONDS, input) };
  return { ...secretReply({}, headers), redirect: url };
}

/** Query of GET /api/auth/oidc/callback: what the provider says (OpenID Connect Core 1.0, section 3.1.2.5; RFC 9207). */
export const finishOidcQuery = object({
  code: textOrEmpty(),
  state: textOrEmpty(),
  iss: textOrEmpty(),
  error: textOrEmpty(),
  error_description: textOrEmpty(),
});

/** GET /api/auth/oidc/callback. @throws bad_request */
export function decodeFinishOidc({
  query,
  baseUrl,
  loginSecret,
}: RouteInput): MessageInitShape<typeof FinishOidcLoginRequestSchema> {
  const { code, state, iss, error, errorDescription } = finishOidcQuery.read(query);
  const sent = Object.entries({ code, state, iss, error, error_description: errorDescription });
  return { baseUrl, answer: Object.fromEntries(sent.filter(([, text]) => text !== "")), secret: loginSecret ?? "" };
}

/** The session with its cookie, or a redirect to where the person wanted to go. */
export function encodeFinishOidc(
  { created, returnTo }: FinishOidcLoginResponse,
  _request: unknown,
  input: EncoderInput,
): RouteReply {
  const session = requireMessage(created);
  const cookies = [...Object.values(cookieOf(session, input)), cookieHeader(loginCookie, "", 0, input)];
  const reply = secretReply(sessionJson(requireMessage(session.view)), { "set-cookie": cookies });
  return returnTo === "" ? reply : { ...reply, redirect: withBasePath(returnTo, basePathOf(input.baseUrl)) };
}
