import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  GetAuthConfigRequestSchema,
  GetAuthConfigResponse,
  GetSessionRequestSchema,
  GetSessionResponse,
  KeyRights,
  NewSession,
  SessionView,
  SignInForDevelopmentRequestSchema,
  SignInOnceRequestSchema,
  SignInWithApiKeyRequestSchema,
  SignInWithInvitationRequestSchema,
  SignOutRequestSchema,
  SwitchOrganizationRequestSchema,
} from "@tidemark/proto/control/v1/control";
import { basePathOf } from "../../http/base-path.ts";
import { cookieName, sessionCookie } from "../../http/headers.ts";
import type { Json } from "../../http/json.ts";
import type { EncoderInput, RouteInput, RouteReply, Schema } from "../../route.ts";
import { described, list, object, withDefault } from "../fields/field.ts";
import { email, text, textOrEmpty, uuid, wordForService } from "../fields/text.ts";
import {
  accountTypes,
  membershipJson,
  membershipSchema,
  membershipSummaryJson,
  membershipSummarySchema,
  organizationJson,
  organizationSchema,
  userJson,
  userSchema,
} from "../organizations/rows.ts";
import {
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

const orNull = (schema: Schema): Schema => ({ oneOf: [schema, { type: "null" }] });

const sessionProperties = {
  authenticated: { const: true },
  session: objectSchema({
    id: uuidSchema,
    user_id: uuidOrNullSchema,
    org_id: uuidSchema,
    metadata: { type: "object", description: "{scopes, project_id} of the key that the session was made from." },
    created_at: timeSchema,
    last_seen_at: timeOrNullSchema,
    expires_at: timeSchema,
    revoked_at: timeOrNullSchema,
  }),
  user: { ...orNull(userSchema), description: "null where the session was made from an API key." },
  organization: organizationSchema,
  membership: orNull(membershipSchema),
  memberships: listSchema(membershipSummarySchema),
  account_type: textSchema,
  provisioning: objectSchema({ status: textSchema, mode: textSchema, service_id: textOrNullSchema }),
} satisfies Record<string, Schema>;

/** The signed-in caller. */
export const sessionSchema = objectSchema(sessionProperties);

/** The answer when the caller is not signed in. */
export const signedOutSchema = objectSchema({ authenticated: { const: false } });

/** The session, or the answer when the caller is not signed in. */
export const maybeSessionSchema: Schema = { oneOf: [sessionSchema, signedOutSchema] };

/** Writes a session. */
export function sessionJson(view: SessionView): Json {
  const session = requireMessage(view.session);
  const organization = requireMessage(view.organization);
  return {
    authenticated: true,
    session: {
      id: session.id,
      user_id: textOrNull(session.userId),
      org_id: session.orgId,
      metadata: view.keyRights === undefined ? {} : keyRightsJson(view.keyRights),
      created_at: session.createdAt,
      last_seen_at: textOrNull(session.lastSeenAt),
      expires_at: session.expiresAt,
      revoked_at: textOrNull(session.revokedAt),
    },
    user: view.user === undefined ? null : userJson(view.user),
    organization: organizationJson(organization),
    membership: view.membership === undefined ? null : membershipJson(view.membership),
    memberships: view.memberships.map(membershipSummaryJson),
    account_type: organization.accountType,
    provisioning: { status: "ready", mode: "database", service_id: null },
  };
}

function keyRightsJson({ scopes, projectId }: KeyRights): Json {
  return { scopes, project_id: textOrNull(projectId) };
}

/** `{dev_auth_enabled, managed_clerk_enabled, oidc_enabled, api_key_enabled, one_time_enabled, invitation_enabled, service_plane}`: what this client may use. */
export function encodeAuthConfig(
  { devAuthEnabled, oidcEnabled, invitationEnabled }: GetAuthConfigResponse,
  _request: unknown,
  { isFromThisMachine }: EncoderInput,
): RouteReply {
  return {
    body: {
      dev_auth_enabled: devAuthEnabled && isFromThisMachine,
      managed_clerk_enabled: false,
      oidc_enabled: oidcEnabled,
      api_key_enabled: true,
      one_time_enabled: isFromThisMachine,
      invitation_enabled: invitationEnabled,
      service_plane: "combined",
    },
  };
}

/** Body of POST /api/auth/dev/google. */
export const signInBody = object({
  email: email(),
  display_name: textOrEmpty(),
  mode: wordForService(["signin", "signup"]),
  account_type: wordForService(accountTypes),
  org_name: textOrEmpty(),
  plan_tier: wordForService(["free"]),
  seat_emails: withDefault(list(email(), { itemsMax: 100 }), []),
  accept_invite_org_id: withDefault(uuid(), ""),
  accept_invite_token: textOrEmpty(),
});

/** POST /api/auth/dev/google. @throws bad_request */
export function decodeSignIn({ body }: RouteInput): MessageInitShape<typeof SignInForDevelopmentRequestSchema> {
  return signInBody.read(body);
}

/** Body of POST /api/auth/api-key. */
export const apiKeyBody = object({ api_key: described(text(), "The text of an API key.") });

/** POST /api/auth/api-key. @throws bad_request */
export function decodeApiKey({ body }: RouteInput): MessageInitShape<typeof SignInWithApiKeyRequestSchema> {
  return apiKeyBody.read(body);
}

/** Body of POST /api/auth/one-time. */
export const oneTimeBody = object({ token: described(text(), "As `npm start` prints it.") });

/** POST /api/auth/one-time. @throws bad_request */
export function decodeOneTime({ body }: RouteInput): MessageInitShape<typeof SignInOnceRequestSchema> {
  return oneTimeBody.read(body);
}

/** GET /api/auth/config. */
export function decodeAuthConfig({
  isFromThisMachine,
}: RouteInput): MessageInitShape<typeof GetAuthConfigRequestSchema> {
  return { fromThisMachine: isFromThisMachine };
}

/** Body of POST /api/auth/invitation. */
export const invitationBody = object({ token: described(text(), "The token in the link of an invitation.") });

/** POST /api/auth/invitation. @throws bad_request */
export function decodeSignInWithInvitation({
  body,
  isFromThisMachine,
}: RouteInput): MessageInitShape<typeof SignInWithInvitationRequestSchema> {
  return { ...invitationBody.read(body), fromThisMachine: isFromThisMachine };
}

/** GET /api/auth/session: reads the cookie. */
export function decodeGetSession({ sessionToken }: RouteInput): MessageInitShape<typeof GetSessionRequestSchema> {
  return { token: sessionToken ?? "" };
}

/** The session, or `{authenticated: false}`. */
export function encodeGetSession({ view }: GetSessionResponse): RouteReply {
  return secretReply(view === undefined ? { authenticated: false } : sessionJson(view));
}

/** POST /api/auth/logout. */
export function decodeSignOut({ sessionToken }: RouteInput): MessageInitShape<typeof SignOutRequestSchema> {
  return { token: sessionToken ?? "" };
}

/** `{authenticated: false}`, and the cookie is removed. */
export function encodeSignOut(_response: unknown, _request: unknown, input: EncoderInput): RouteReply {
  return secretReply({ authenticated: false }, { "set-cookie": cookieHeader(sessionCookie, "", 0, input) });
}

/** Body of POST /api/auth/switch-organization. */
export const switchOrganizationBody = object({ org_id: uuid() });

/** POST /api/auth/switch-organization. @throws bad_request */
export function decodeSwitchOrganization({
  body,
}: RouteInput): MessageInitShape<typeof SwitchOrganizationRequestSchema> {
  return switchOrganizationBody.read(body);
}

/** A new session with its cookie. The caller's own session keeps its cookie. */
export function encodeNewSession(
  { created }: { readonly created?: NewSession },
  _request: unknown,
  input: EncoderInput,
): RouteReply {
  const session = requireMessage(created);
  return secretReply(sessionJson(requireMessage(session.view)), cookieOf(session, input));
}

/** Returns the header that gives a new session to the browser; none for the caller's own session. */
export function cookieOf({ token, maxAgeSeconds }: NewSession, input: CookieInput): Readonly<Record<string, string>> {
  return token === "" ? {} : { "set-cookie": cookieHeader(sessionCookie, token, maxAgeSeconds, input) };
}

/** What a cookie depends on. */
type CookieInput = Pick<EncoderInput, "cookieSecure" | "baseUrl">;

/**
 * Returns the value of a `set-cookie` header; 0 seconds remove the cookie. Scripts cannot read it, and browsers send it with requests of the same site and
 * with navigation only.
 */
export function cookieHeader(name: string, value: string, seconds: number, input: CookieInput): string {
  const path = basePathOf(input.baseUrl) || "/";
  return `${cookieName(name, input.baseUrl)}=${value}; Path=${path}; HttpOnly; SameSite=Lax; Max-Age=${seconds}${input.cookieSecure ? "; Secure" : ""}`;
}
