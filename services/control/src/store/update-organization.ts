import { sql, type Tx } from "@tidemark/pg";
import type { BillingState, PlanTier } from "@tidemark/plans";
import { organizationColumns, type OrganizationRow } from "./rows-organizations.ts";

const updateOrganizationSql = sql(
  "control_update_organization",
  `UPDATE control.organizations
   SET plan_tier = $2, billing_state = $3, seat_limit = $4, changed_xid = pg_current_xact_id()
   WHERE org_id = $1
   RETURNING ${organizationColumns}`,
);

/** Sets plan, billing state and seats of an organization that exists. */
export async function updateOrganizationRow(
  tx: Tx,
  org: { orgId: string; planTier: PlanTier; billingState: BillingState; seatLimit: number },
): Promise<OrganizationRow> {
  const row = await tx.one<OrganizationRow>(updateOrganizationSql, [
    org.orgId,
    org.planTier,
    org.billingState,
    org.seatLimit,
  ]);
  return row!;
}
