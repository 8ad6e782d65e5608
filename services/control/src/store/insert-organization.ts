import { sql, type Tx } from "@tidemark/pg";
import type { BillingState, PlanTier } from "@tidemark/plans";
import type { AccountType } from "../domain/plans.ts";
import { organizationColumns, type OrganizationRow } from "./rows-organizations.ts";

const insertOrganizationSql = sql(
  "control_insert_organization",
  `INSERT INTO control.organizations
     (org_id, slug, name, plan_tier, billing_state, account_type, seat_limit, created_by_user_id, created_at)
   VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
   ON CONFLICT DO NOTHING
   RETURNING ${organizationColumns}`,
);

/** What an organization begins with. */
export type NewOrganization = {
  orgId: string;
  slug: string;
  name: string;
  planTier: PlanTier;
  billingState: BillingState;
  accountType: AccountType;
  seatLimit: number;
  createdByUserId: string | undefined;
  now: Date;
};

/** Makes an organization; `undefined` when its short name or id is taken. The transaction has entered it. */
export function insertOrganization(tx: Tx, org: NewOrganization): Promise<OrganizationRow | undefined> {
  return tx.one(insertOrganizationSql, [
    org.orgId,
    org.slug,
    org.name,
    org.planTier,
    org.billingState,
    org.accountType,
    org.seatLimit,
    org.createdByUserId ?? null,
    org.now.toISOString(),
  ]);
}
