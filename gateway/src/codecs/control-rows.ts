import type {
  ApiKey,
  Invitation,
  Membership,
  MembershipSummary,
  Organization,
  Seat,
  ServiceAccount,
  User,
} from "@tidemark/proto/control/v1/control";
import type { Json } from "./json.ts";
import { requireMessage } from "./runs-message.ts";

// Rows of the control service as JSON. Messages have an empty text where JSON has null.

/** A text, or null where there is none. */
export function textOrNull(text: string): string | null {
  return text === "" ? null : text;
}

/** A person. */
export function userJson(user: User): Json {
  return {
    id: user.id,
    primary_email: user.primaryEmail,
    display_name: textOrNull(user.displayName),
    avatar_url: textOrNull(user.avatarUrl),
    created_at: user.createdAt,
    last_seen_at: textOrNull(user.lastSeenAt),
  };
}

/** A tenant. One installation has one store for everybody, which the last three fields say. */
export function organizationJson(organization: Organization): Json {
  return {
    id: organization.id,
    slug: organization.slug,
    name: organization.name,
    plan_tier: organization.planTier,
    billing_state: organization.billingState,
    account_type: organization.accountType,
    seat_limit: organization.seatLimit,
    created_by_user_id: textOrNull(organization.createdByUserId),
    created_at: organization.createdAt,
    tenant_routing_tier: "shared",
    storage_choice: "hosted",
    storage_state: "ready",
  };
}

/** A user's place in an organization. */
export function membershipJson(membership: Membership): Json {
  return {
    id: membership.id,
    org_id: membership.orgId,
    user_id: membership.userId,
    role: membership.role,
    status: membership.status,
    created_at: membership.createdAt,
  };
}

/** An organization as its member sees it in a list. */
export function membershipSummaryJson(summary: MembershipSummary): Json {
  return {
    org_id: summary.orgId,
    name: summary.name,
    slug: summary.slug,
    plan_tier: summary.planTier,
    role: summary.role,
    status: summary.status,
    member_count: summary.memberCount,
    is_current: summary.isCurrent,
  };
}

/** A member with what colleagues may know of the person. */
export function seatJson(seat: Seat): Json {
  const user = requireMessage(seat.user);
  return {
    membership: membershipJson(requireMessage(seat.membership)),
    user: {
      id: user.id,
      primary_email: user.primaryEmail,
      display_name: textOrNull(user.displayName),
      avatar_url: textOrNull(user.avatarUrl),
    },
  };
}

/** An API key without its text. */
export function apiKeyJson(key: ApiKey): Json {
  return {
    id: key.id,
    org_id: key.orgId,
    service_account_id: key.serviceAccountId,
    name: key.name,
    key_prefix: key.keyPrefix,
    scopes: key.scopes,
    project_id: textOrNull(key.projectId),
    created_at: key.createdAt,
    expires_at: textOrNull(key.expiresAt),
    last_used_at: textOrNull(key.lastUsedAt),
    revoked_at: textOrNull(key.revokedAt),
  };
}

/** The account that a key acts for. */
export function serviceAccountJson(account: ServiceAccount): Json {
  return {
    id: account.id,
    org_id: account.orgId,
    name: account.name,
    created_by_user_id: textOrNull(account.createdByUserId),
    created_at: account.createdAt,
    disabled_at: textOrNull(account.disabledAt),
  };
}

/** An invitation without its token. */
export function invitationJson(invitation: Invitation): Json {
  return {
    id: invitation.id,
    org_id: invitation.orgId,
    email: invitation.email,
    role: invitation.role,
    status: invitation.status,
    created_at: invitation.createdAt,
    expires_at: invitation.expiresAt,
    last_sent_at: textOrNull(invitation.lastSentAt),
    accepted_at: textOrNull(invitation.acceptedAt),
    revoked_at: textOrNull(invitation.revokedAt),
    delivery_status: invitation.deliveryStatus,
  };
}
