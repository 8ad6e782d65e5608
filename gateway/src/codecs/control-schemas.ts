import { scopes } from "@tidemark/credentials";
import { billingStates } from "@tidemark/plans";
import type { Schema } from "../route.ts";

// JSON Schemas of what the control routes take and answer, for the documentation.

const id: Schema = { type: "string", format: "uuid" };
const idOrNull: Schema = { type: ["string", "null"], format: "uuid" };
const time: Schema = { type: "string", format: "date-time" };
const timeOrNull: Schema = { type: ["string", "null"], format: "date-time" };
const text: Schema = { type: "string" };
const textOrNull: Schema = { type: ["string", "null"] };
const integer: Schema = { type: "integer", minimum: 0 };

/** An object whose properties are all required. */
export function objectSchema(properties: Readonly<Record<string, Schema>>, more: Schema = {}): Schema {
  return { type: "object", required: Object.keys(properties), properties, ...more };
}

/** An array. */
export function listSchema(items: Schema): Schema {
  return { type: "array", items };
}

const planTier: Schema = { type: "string", enum: ["free", "pro", "premium"] };
const billingState: Schema = {
  type: "string",
  enum: billingStates,
};
const role: Schema = { type: "string", enum: ["owner", "admin", "member", "viewer"] };
const invitedRole: Schema = { type: ["string", "null"], enum: ["admin", "member", "viewer", null], default: "member" };
const scope: Schema = { type: "string", enum: scopes };

/** A person. */
export const userSchema = objectSchema({
  id,
  primary_email: text,
  display_name: textOrNull,
  avatar_url: textOrNull,
  created_at: time,
  last_seen_at: timeOrNull,
});

/** A tenant. */
export const organizationSchema = objectSchema({
  id,
  slug: text,
  name: text,
  plan_tier: planTier,
  billing_state: billingState,
  account_type: { type: "string", enum: ["personal", "business", "customer"] },
  seat_limit: integer,
  created_by_user_id: idOrNull,
  created_at: time,
  tenant_routing_tier: text,
  storage_choice: text,
  storage_state: text,
});

/** A user's place in an organization. */
export const membershipSchema = objectSchema({
  id,
  org_id: id,
  user_id: id,
  role,
  status: { type: "string", enum: ["active", "invited"] },
  created_at: time,
});

/** An organization as its member sees it. */
export const membershipSummarySchema = objectSchema({
  org_id: id,
  name: text,
  slug: text,
  plan_tier: planTier,
  role,
  status: text,
  member_count: integer,
  is_current: { type: "boolean" },
});

/** A member with what colleagues may know. */
export const seatSchema = objectSchema({
  membership: membershipSchema,
  user: objectSchema({ id, primary_email: text, display_name: textOrNull, avatar_url: textOrNull }),
});

/** A key without its text. */
export const apiKeySchema = objectSchema({
  id,
  org_id: id,
  service_account_id: id,
  name: text,
  key_prefix: { type: "string", description: "The first 14 characters." },
  scopes: listSchema(scope),
  project_id: idOrNull,
  created_at: time,
  expires_at: timeOrNull,
  last_used_at: timeOrNull,
  revoked_at: timeOrNull,
});

/** The account that a key acts for. */
export const serviceAccountSchema = objectSchema({
  id,
  org_id: id,
  name: text,
  created_by_user_id: idOrNull,
  created_at: time,
  disabled_at: timeOrNull,
});

/** A key with its text. */
export const newApiKeySchema = objectSchema({
  api_key: { type: "string", description: "The key itself, shown in this answer only." },
  api_key_available: { type: "boolean" },
  message: textOrNull,
  key: apiKeySchema,
  service_account: serviceAccountSchema,
});

/** An invitation without its token. */
export const invitationSchema = objectSchema({
  id,
  org_id: id,
  email: text,
  role,
  status: { type: "string", enum: ["pending", "accepted", "revoked", "expired"] },
  created_at: time,
  expires_at: time,
  last_sent_at: timeOrNull,
  accepted_at: timeOrNull,
  revoked_at: timeOrNull,
  delivery_status: { type: "string", enum: ["queued", "sent", "failed"] },
});

/** An invitation with what became of its message. */
export const sentInvitationSchema = objectSchema({
  invitation: invitationSchema,
  preview_link: { type: ["string", "null"], description: "To hand on, where no message could carry it." },
  delivery_error: textOrNull,
});

const sessionProperties = {
  authenticated: { const: true },
  session: objectSchema({
    id,
    user_id: id,
    org_id: id,
    metadata: { type: "object" },
    created_at: time,
    last_seen_at: timeOrNull,
    expires_at: time,
    revoked_at: timeOrNull,
  }),
  user: userSchema,
  organization: organizationSchema,
  membership: membershipSchema,
  memberships: listSchema(membershipSummarySchema),
  account_type: text,
  provisioning: objectSchema({ status: text, mode: text, service_id: textOrNull }),
} satisfies Record<string, Schema>;

/** Who is signed in. */
export const sessionSchema = objectSchema(sessionProperties);

/** Nobody is signed in. */
export const signedOutSchema = objectSchema({ authenticated: { const: false } });

/** Who is signed in, if anybody is. */
export const maybeSessionSchema: Schema = { oneOf: [sessionSchema, signedOutSchema] };

/** Query of a list of at most `max` a page. */
export function pageQuery(max: number): Readonly<Record<string, Schema>> {
  return {
    limit: { type: "integer", minimum: 1, maximum: max, default: 100 },
    offset: { type: "integer", minimum: 0, default: 0 },
  };
}

const optionalText: Schema = { type: ["string", "null"] };

/** Body of POST /api/users. */
export const createUserSchema: Schema = {
  type: "object",
  properties: {
    email: optionalText,
    primary_email: { ...optionalText, description: "Another name of `email`." },
    display_name: optionalText,
    avatar_url: optionalText,
  },
};

/** Body of POST /api/orgs. */
export const createOrganizationSchema: Schema = {
  type: "object",
  description: "At least one of `name` and `slug`.",
  properties: {
    name: optionalText,
    slug: { ...optionalText, description: "1 to 63 lower-case letters, digits and hyphens; made from the name." },
    plan_tier: { type: ["string", "null"], enum: ["free", "pro", "premium", "lab", "startup", "growth", null] },
    owner_user_id: idOrNull,
  },
};

/** Body of PATCH /api/orgs/{org_id}. */
export const updateOrganizationSchema: Schema = {
  type: "object",
  description: "At least one of the two.",
  properties: { plan_tier: planTier, billing_state: billingState },
};

/** Body of POST /api/orgs/{org_id}/api-keys. */
export const createApiKeySchema: Schema = {
  type: "object",
  properties: {
    name: { ...optionalText, default: "SDK API key" },
    scopes: { type: ["array", "null"], items: scope, minItems: 1, default: ["sdk:ingest", "export:read"] },
    project_id: { ...idOrNull, description: "The one project that the key may see." },
    project: { ...optionalText, description: "The same by its name." },
    expires_at: timeOrNull,
    created_by_user_id: { ...idOrNull, description: "For operators; otherwise it is the caller." },
  },
};

/** Body of POST /api/auth/dev/google. */
export const signInSchema: Schema = {
  type: "object",
  required: ["email"],
  properties: {
    email: text,
    display_name: optionalText,
    mode: { type: ["string", "null"], enum: ["signin", "signup", null] },
    account_type: { type: ["string", "null"], enum: ["personal", "business", "customer", null] },
    org_name: optionalText,
    plan_tier: optionalText,
    seat_emails: { type: ["array", "null"], items: text },
    accept_invite_org_id: idOrNull,
    accept_invite_token: optionalText,
  },
};

/** Body of POST /api/orgs/current-user. */
export const createOwnOrganizationSchema: Schema = {
  type: "object",
  required: ["name"],
  properties: {
    name: text,
    account_type: { type: ["string", "null"], enum: ["business", "personal", null], default: "business" },
    plan_tier: optionalText,
    initial_invitations: {
      type: ["array", "null"],
      items: { type: "object", required: ["email"], properties: { email: text, role: invitedRole } },
    },
    switch_on_create: { type: ["boolean", "null"], default: true },
  },
};

/** Body that names a person and a role. */
export const personSchema: Schema = {
  type: "object",
  required: ["email"],
  properties: { email: text, role: invitedRole },
};

/** Body that carries an invitation's token. */
export const tokenSchema: Schema = { type: "object", required: ["token"], properties: { token: text } };
