// The columns of each row type, for statements that return whole rows.

/** Columns of a UserRow. */
export const userColumns = "id, email, display_name, avatar_url, created_at, last_seen_at";

/** Columns of an OrganizationRow. */
export const organizationColumns =
  "org_id, slug, name, plan_tier, billing_state, account_type, seat_limit, created_by_user_id, created_at";

/** Columns of a MembershipRow. */
export const membershipColumns = "org_id, id, user_id, role, status, created_at";

/** Columns of a SessionRow. */
export const sessionColumns = "org_id, id, user_id, created_at, last_seen_at, expires_at, revoked_at";

/** Columns of an ApiKeyRow. */
export const apiKeyColumns = `org_id, id, service_account_id, key_prefix, name, scopes, project_id, created_at, expires_at,
  last_used_at, revoked_at`;

/** Columns of a ServiceAccountRow. */
export const serviceAccountColumns = "org_id, id, name, created_by_user_id, created_at, disabled_at";

/** Columns of an InvitationRow. */
export const invitationColumns = `org_id, id, email, role, status, created_at, expires_at, last_sent_at, delivery_status,
  accepted_at, accepted_by_user_id, revoked_at`;

/** Columns of a DeviceLoginRow. */
export const deviceLoginColumns = "credential_id, hash, status, org_id, user_id, expires_at, last_polled_at";
