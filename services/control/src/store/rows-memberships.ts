import type { PlanTier } from "@tidemark/plans";
import type { AccountType } from "../domain/plans.ts";
import type { Role } from "../domain/roles.ts";

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

/** Columns of a MembershipRow. */
export const membershipColumns = "org_id, id, user_id, role, status, created_at";
