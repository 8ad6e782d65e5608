import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  ApiKeySchema,
  InvitationSchema,
  MembershipSchema,
  MembershipSummarySchema,
  OrganizationSchema,
  SeatSchema,
  ServiceAccountSchema,
  SessionSchema,
  UserSchema,
} from "@tidemark/proto/control/v1/control";
import { statusAt } from "../domain/invitations.ts";
import type {
  ApiKeyRow,
  InvitationRow,
  MembershipRow,
  MembershipSummaryRow,
  OrganizationRow,
  ServiceAccountRow,
  SessionRow,
  UserRow,
} from "../domain/records.ts";
import type { SeatRow } from "../store/list-seats.ts";

// Rows as messages: null becomes the empty text.

export function encodeUser(row: UserRow): MessageInitShape<typeof UserSchema> {
  return {
    id: row.id,
    primaryEmail: row.email,
    displayName: row.display_name ?? "",
    avatarUrl: row.avatar_url ?? "",
    createdAt: row.created_at,
    lastSeenAt: row.last_seen_at ?? "",
  };
}

export function encodeOrganization(row: OrganizationRow): MessageInitShape<typeof OrganizationSchema> {
  return {
    id: row.org_id,
    slug: row.slug,
    name: row.name,
    planTier: row.plan_tier,
    billingState: row.billing_state,
    accountType: row.account_type,
    seatLimit: row.seat_limit,
    createdByUserId: row.created_by_user_id ?? "",
    createdAt: row.created_at,
  };
}

export function encodeMembership(row: MembershipRow): MessageInitShape<typeof MembershipSchema> {
  return {
    id: row.id,
    orgId: row.org_id,
    userId: row.user_id,
    role: row.role,
    status: row.status,
    createdAt: row.created_at,
  };
}

/** Active memberships only: an invited seat is no place to go to yet. The current organization first, then by name. */
export function encodeMembershipSummaries(
  rows: readonly MembershipSummaryRow[],
  currentOrgId: string,
): MessageInitShape<typeof MembershipSummarySchema>[] {
  return rows
    .filter((row) => row.status === "active")
    .map((row) => ({
      orgId: row.org_id,
      name: row.name,
      slug: row.slug,
      planTier: row.plan_tier,
      role: row.role,
      status: row.status,
      memberCount: row.member_count,
      isCurrent: row.org_id === currentOrgId,
    }))
    .toSorted((a, b) => Number(b.isCurrent) - Number(a.isCurrent) || a.name.localeCompare(b.name, "en"));
}

export function encodeSession(row: SessionRow): MessageInitShape<typeof SessionSchema> {
  return {
    id: row.id,
    userId: row.user_id,
    orgId: row.org_id,
    createdAt: row.created_at,
    lastSeenAt: row.last_seen_at ?? "",
    expiresAt: row.expires_at,
    revokedAt: row.revoked_at ?? "",
  };
}

export function encodeApiKey(row: ApiKeyRow): MessageInitShape<typeof ApiKeySchema> {
  return {
    id: row.id,
    orgId: row.org_id,
    serviceAccountId: row.service_account_id,
    name: row.name,
    keyPrefix: row.key_prefix,
    scopes: row.scopes,
    projectId: row.project_id ?? "",
    createdAt: row.created_at,
    expiresAt: row.expires_at ?? "",
    lastUsedAt: row.last_used_at ?? "",
    revokedAt: row.revoked_at ?? "",
  };
}

export function encodeServiceAccount(row: ServiceAccountRow): MessageInitShape<typeof ServiceAccountSchema> {
  return {
    id: row.id,
    orgId: row.org_id,
    name: row.name,
    createdByUserId: row.created_by_user_id ?? "",
    createdAt: row.created_at,
    disabledAt: row.disabled_at ?? "",
  };
}

export function encodeSeat(row: SeatRow): MessageInitShape<typeof SeatSchema> {
  return {
    membership: encodeMembership(row),
    user: {
      id: row.user_id,
      primaryEmail: row.email,
      displayName: row.display_name ?? "",
      avatarUrl: row.avatar_url ?? "",
    },
  };
}

/** With the status as it is at `now`, whatever the sweeper has got to. */
export function encodeInvitation(row: InvitationRow, now: Date): MessageInitShape<typeof InvitationSchema> {
  return {
    id: row.id,
    orgId: row.org_id,
    email: row.email,
    role: row.role,
    status: statusAt({ status: row.status, expiresAt: new Date(row.expires_at) }, now),
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    lastSentAt: row.last_sent_at,
    acceptedAt: row.accepted_at ?? "",
    revokedAt: row.revoked_at ?? "",
    deliveryStatus: row.delivery_status,
  };
}
