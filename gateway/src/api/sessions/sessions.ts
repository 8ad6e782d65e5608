import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  GetAuthConfigResponse,
  GetSessionRequestSchema,
  GetSessionResponse,
  NewSession,
  SessionView,
  SignInForDevelopmentRequestSchema,
  SignOutRequestSchema,
  SwitchOrganizationRequestSchema,
} from "@tidemark/proto/control/v1/control";
import { sessionCookie } from "../../http/headers.ts";
import type { Json } from "../../http/json.ts";
import type { RouteInput, RouteReply, Schema } from "../../route.ts";
import { readOptionalText, readOptionalUuid, readText, readTextList, readUuid } from "../fields/index.ts";
import {
  membershipJson,
  membershipSchema,
  membershipSummaryJson,
  membershipSummarySchema,
  organizationJson,
  organizationSchema,
  userJson,
  userSchema,
} from "../organizations/rows.ts";
import { requireMessage, secretReply, textOrNull } from "../replies.ts";
import {
  listSchema,
  objectSchema,
  textOrNullSchema,
  textSchema,
  timeOrNullSchema,
  timeSchema,
  uuidOrNullSchema,
  uuidSchema,
} from "../schemas.ts";

const sessionProperties = {
  authenticated: { const: true },
  session: objectSchema({
    id: uuidSchema,
    user_id: uuidSchema,
    org_id: uuidSchema,
    metadata: { type: "object" },
    created_at: timeSchema,
    last_seen_at: timeOrNullSchema,
    expires_at: timeSchema,
    revoked_at: timeOrNullSchema,
  }),
  user: userSchema,
  organization: organizationSchema,
  membership: membershipSchema,
  memberships: listSchema(membershipSummarySchema),
  account_type: textSchema,
  provisioning: objectSchema({ status: textSchema, mode: textSchema, service_id: textOrNullSchema }),
} satisfies Record<string, Schema>;

/** Who is signed in. */
export const sessionSchema = objectSchema(sessionProperties);

/** The answer when nobody is signed in. */
export const signedOutSchema = objectSchema({ authenticated: { const: false } });

/** The session, or the answer when nobody is signed in. */
export const maybeSessionSchema: Schema = { oneOf: [sessionSchema, signedOutSchema] };

/** Writes a session. */
export function sessionJson(view: SessionView): Json {
  const session = requireMessage(view.session);
  const organization = requireMessage(view.organization);
  return {
    authenticated: true,
    session: {
      id: session.id,
      user_id: session.userId,
      org_id: session.orgId,
      metadata: {},
      created_at: session.createdAt,
      last_seen_at: textOrNull(session.lastSeenAt),
      expires_at: session.expiresAt,
      revoked_at: textOrNull(session.revokedAt),
    },
    user: userJson(requireMessage(view.user)),
    organization: organizationJson(organization),
    membership: membershipJson(requireMessage(view.membership)),
    memberships: view.memberships.map(membershipSummaryJson),
    account_type: organization.accountType,
    provisioning: { status: "ready", mode: "database", service_id: null },
  };
}

/** `{dev_auth_enabled, managed_clerk_enabled, service_plane}`; no identity provider is built in. */
export function encodeAuthConfig({ devAuthEnabled }: GetAuthConfigResponse): RouteReply {
  return {
    body: { dev_auth_enabled: devAuthEnabled, managed_clerk_enabled: false, service_plane: "combined" },
  };
}

const SEATS_MAX = 100;

/** Body of POST /api/auth/dev/google. */
export const signInSchema: Schema = {
  type: "object",
  required: ["email"],
  properties: {
    email: textSchema,
    display_name: textOrNullSchema,
    mode: { type: ["string", "null"], enum: ["signin", "signup", null] },
    account_type: { type: ["string", "null"], enum: ["personal", "business", "customer", null] },
    org_name: textOrNullSchema,
    plan_tier: textOrNullSchema,
    seat_emails: { type: ["array", "null"], items: textSchema },
    accept_invite_org_id: uuidOrNullSchema,
    accept_invite_token: textOrNullSchema,
  },
};

/** POST /api/auth/dev/google. @throws bad_request */
export function decodeSignIn({ body }: RouteInput): MessageInitShape<typeof SignInForDevelopmentRequestSchema> {
  const text = (name: string): string => readOptionalText(body, name, { blank: "absent" }) ?? "";
  return {
    email: readText(body, "email"),
    displayName: text("display_name"),
    mode: text("mode"),
    accountType: text("account_type"),
    orgName: text("org_name"),
    planTier: text("plan_tier"),
    seatEmails: readTextList(body, "seat_emails", { itemsMax: SEATS_MAX }) ?? [],
    acceptInviteOrgId: readOptionalUuid(body, "accept_invite_org_id") ?? "",
    acceptInviteToken: text("accept_invite_token"),
  };
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
export function encodeSignOut(_: unknown, { cookieSecure }: RouteInput): RouteReply {
  return secretReply({ authenticated: false }, { "set-cookie": clearSessionCookie(cookieSecure) });
}

/** POST /api/auth/switch-organization. @throws bad_request */
export function decodeSwitchOrganization({
  body,
}: RouteInput): MessageInitShape<typeof SwitchOrganizationRequestSchema> {
  return { orgId: readUuid(body, "org_id") };
}

/** A new session with its cookie. The caller's own session keeps its cookie. */
export function encodeNewSession(
  { created }: { readonly created?: NewSession },
  { cookieSecure }: RouteInput,
): RouteReply {
  const session = requireMessage(created);
  return secretReply(sessionJson(requireMessage(session.view)), cookieOf(session, cookieSecure));
}

/** Returns the header that gives a new session to the browser; none for the caller's own session. */
export function cookieOf({ token, maxAgeSeconds }: NewSession, secure: boolean): Readonly<Record<string, string>> {
  return token === "" ? {} : { "set-cookie": giveSessionCookie(token, maxAgeSeconds, secure) };
}

/**
 * Value of the `set-cookie` header that gives a browser its session. Scripts cannot read it, and it comes
Returns the value of the `set-cookie` header that gives a browser its session. Scripts cannot read it, and browsers send it
 */
function giveSessionCookie(token: string, maxAgeSeconds: number, secure: boolean): string {
  return `${sessionCookie}=${token}; Path=/; HttpOnly; SameSite=Lax; Max-Age=${maxAgeSeconds}${secure ? "; Secure" : ""}`;
}

/** Returns the value of the `set-cookie` header that removes it. */
function clearSessionCookie(secure: boolean): string {
  return giveSessionCookie("", 0, secure);
}
