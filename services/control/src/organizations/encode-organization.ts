import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  DeletionSchema,
  MembershipSchema,
  MembershipSummarySchema,
  OrganizationSchema,
  UserSchema,
} from "@tidemark/proto/control/v1/control";
import type { MembershipRow, MembershipSummaryRow } from "./memberships.sql.ts";
import type { DeletableOrganizationRow, OrganizationRow } from "./organizations.sql.ts";
import type { UserRow } from "./users.sql.ts";

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

export function encodeOrganization(
  row: OrganizationRow | DeletableOrganizationRow,
): MessageInitShape<typeof OrganizationSchema> {
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
    ...("deleted_at" in row ? deletionOf(row) : {}),
  };
}

function deletionOf(row: { readonly deleted_at?: string | null; readonly purge_after?: string | null }): {
  deletion?: MessageInitShape<typeof DeletionSchema>;
} {
  if (!row.deleted_at || !row.purge_after) return {};
  return { deletion: { deletedAt: row.deleted_at, purgeAfter: row.purge_after } };
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

/** Returns the active memberships, the current organization first, then by name. A seat that waits for its person does not count yet. */
export function encodeMembershipSummaries(
  rows: readonly (MembershipSummaryRow & { readonly deleted_at?: string; readonly purge_after?: string })[],
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
      ...deletionOf(row),
    }))
    .toSorted((a, b) => Number(b.isCurrent) - Number(a.isCurrent) || a.name.localeCompare(b.name, "en"));
}
