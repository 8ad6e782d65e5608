import { billingStates } from "@tidemark/limits";
import type { Membership, MembershipSummary, Organization, Seat, User } from "@tidemark/proto/control/v1/control";
import type { Json } from "../../http/json.ts";
import type { Schema } from "../../route.ts";
import { deletionJson, deletionProperties } from "../deletion/deletion.ts";
import {
  booleanSchema,
  countSchema,
  objectSchema,
  requireMessage,
  textOrNull,
  textOrNullSchema,
  textSchema,
  timeOrNullSchema,
  timeSchema,
  uuidOrNullSchema,
  uuidSchema,
} from "../replies.ts";

/** A person. */
export const userSchema = objectSchema({
  id: uuidSchema,
  primary_email: textSchema,
  display_name: textOrNullSchema,
  avatar_url: textOrNullSchema,
  created_at: timeSchema,
  last_seen_at: timeOrNullSchema,
});

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

const planTierSchema: Schema = { type: "string", enum: ["free", "pro", "premium"] };

export const billingStateSchema: Schema = { type: "string", enum: billingStates };

/** The kinds of organizations. */
export const accountTypes = ["personal", "business", "customer"] as const;

/** An organization. */
export const organizationSchema = objectSchema({
  id: uuidSchema,
  slug: textSchema,
  name: textSchema,
  plan_tier: planTierSchema,
  billing_state: billingStateSchema,
  account_type: { type: "string", enum: accountTypes },
  seat_limit: countSchema,
  created_by_user_id: uuidOrNullSchema,
  created_at: timeSchema,
  tenant_routing_tier: textSchema,
  storage_choice: textSchema,
  storage_state: textSchema,
});

/** Writes an organization. One installation has one store for all of them, which the last three fields say. */
export function organizationJson(organization: Organization): Readonly<Record<string, Json>> {
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

/** The roles of a member of an organization. */
export const roleSchema: Schema = { type: "string", enum: ["owner", "admin", "member", "viewer"] };

/** A user's place in an organization. */
export const membershipSchema = objectSchema({
  id: uuidSchema,
  org_id: uuidSchema,
  user_id: uuidSchema,
  role: roleSchema,
  status: { type: "string", enum: ["active", "invited"] },
  created_at: timeSchema,
});

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

/** An organization in its member's list. */
export const membershipSummarySchema = objectSchema(
  {
    org_id: uuidSchema,
    name: textSchema,
    slug: textSchema,
    plan_tier: planTierSchema,
    role: roleSchema,
    status: textSchema,
    member_count: countSchema,
    is_current: booleanSchema,
    ...deletionProperties,
  },
  Object.keys(deletionProperties),
);

/** Writes an organization for its member's list. */
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
    ...(summary.deletion === undefined ? {} : deletionJson(summary.deletion)),
  };
}

/** A member with what colleagues may know about the person. */
export const seatSchema = objectSchema({
  membership: membershipSchema,
  user: objectSchema({
    id: uuidSchema,
    primary_email: textSchema,
    display_name: textOrNullSchema,
    avatar_url: textOrNullSchema,
  }),
});

/** Writes a member with what colleagues may know about the person. */
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
