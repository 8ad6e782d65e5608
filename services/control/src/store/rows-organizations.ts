import type { BillingState, PlanTier } from "@tidemark/plans";
import type { AccountType } from "../domain/plans.ts";

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

/** Columns of an OrganizationRow. */
export const organizationColumns =
  "org_id, slug, name, plan_tier, billing_state, account_type, seat_limit, created_by_user_id, created_at";
