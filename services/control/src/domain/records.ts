import type { BillingState, PlanTier } from "@tidemark/plans";
import type { InvitationStatus } from "./invitations.ts";
import type { AccountType } from "./plans.ts";
import type { Role } from "./roles.ts";

// Rows as the store returns them: columns by their names, instants as RFC 3339 texts.

/** A person. */
export type UserRow = {
  id: string;
  email: string;
  display_name: string | null;
  avatar_url: string | null;
  created_at: string;
  last_seen_at: string | null;
};

/** A tenant. */
export type OrganizationRow = {
  org_id: string;
  slug: string;
  name: string;
  plan_tier: PlanTier;
  billing_state: BillingState;
  account_type: AccountType;
  seat_limit: number;
  created_by_user_id: string | null;
  created_at: string;
};

/** A user's place in an organization. */
export type MembershipRow = {
  org_id: string;
  id: string;
  user_id: string;
  role: Role;
  status: "active" | "invited";
  created_at: string;
};

/** An organization as its member sees it. */
export type MembershipSummaryRow = {
  org_id: string;
  name: string;
  slug: string;
  plan_tier: PlanTier;
  account_type: AccountType;
  role: Role;
  status: "active" | "invited";
  member_count: number;
};

/** A browser's session. */
export type SessionRow = {
  org_id: string;
  id: string;
  user_id: string;
  created_at: string;
  last_seen_at: string | null;
  expires_at: string;
  revoked_at: string | null;
};

/** An API key. */
export type ApiKeyRow = {
  org_id: string;
  id: string;
  service_account_id: string;
  key_prefix: string;
  name: string;
  scopes: string[];
  project_id: string | null;
  created_at: string;
  expires_at: string | null;
  last_used_at: string | null;
  revoked_at: string | null;
};

/** The account that a key acts for. */
export type ServiceAccountRow = {
  org_id: string;
  id: string;
  name: string;
  created_by_user_id: string | null;
  created_at: string;
  disabled_at: string | null;
};

/** An invitation. */
export type InvitationRow = {
  org_id: string;
  id: string;
  email: string;
  role: Role;
  status: InvitationStatus;
  created_at: string;
  expires_at: string;
  last_sent_at: string;
  delivery_status: "queued" | "sent" | "failed";
  accepted_at: string | null;
  accepted_by_user_id: string | null;
  revoked_at: string | null;
};

/** A login that began on a device. */
export type DeviceLoginRow = {
  credential_id: string;
  hash: Uint8Array;
  status: "pending" | "approved" | "finished";
  org_id: string | null;
  user_id: string | null;
  expires_at: string;
  last_polled_at: string | null;
};

/** What gateways know of an organization. */
export type OrganizationFacts = {
  org_id: string;
  slug: string;
  name: string;
  plan_tier: string;
  billing_state: string;
  deleted: boolean;
};

/** What gateways know of a credential. */
export type CredentialFacts = {
  kind: "api_key" | "session";
  /** The id in its text. */
  id: string;
  org_id: string;
  hash: Uint8Array;
  /** Empty for sessions, whose scopes follow from the role. */
  scopes: string[];
  project_id: string | null;
  user_id: string | null;
  role: Role | null;
  expires_at: string | null;
  revoked: boolean;
};
