import { badRequest, notFound } from "@tidemark/errors";
import { throwFault } from "@tidemark/requests";
import { readBillingState } from "../domain/billing.ts";
import { readPlanTier } from "../domain/plans.ts";
import { seatLimit } from "../domain/seats.ts";
import { lockOrganization } from "../store/lock-organization.ts";
import { updateOrganizationRow } from "../store/update-organization.ts";
import { requireOperator, visibleOrganization } from "./caller.ts";
import { commitProjectionChange } from "./commit-projection-change.ts";
import type { ControlDeps, ControlHandlers } from "./deps.ts";
import { encodeOrganization } from "./encode-organization.ts";

/** @throws unauthenticated; not_found; bad_request for an unknown plan or state, or when neither is given */
export function updateOrganization(deps: ControlDeps): ControlHandlers["updateOrganization"] {
  return async (request, call) => {
    requireOperator(call);
    const orgId = visibleOrganization(call, request.orgId);
    const organization = await commitProjectionChange(deps, orgId, async (tx) => {
      const before = await lockOrganization(tx, orgId);
      if (before === undefined) throw notFound("organization");
      throwFault(request.bodyFault);
      const { planTier, billingState } = request;
      if (planTier === undefined && billingState === undefined) {
        throw badRequest("plan_tier or billing_state is required", "plan_tier");
      }
      const plan = planTier === undefined ? before.plan_tier : readPlanTier(planTier);
      return updateOrganizationRow(tx, {
        orgId,
        planTier: plan,
        billingState: billingState === undefined ? before.billing_state : readBillingState(billingState),
        seatLimit:
          plan === before.plan_tier ? before.seat_limit : seatLimit(deps.settings.plans, plan, before.account_type),
      });
    });
    return { organization: encodeOrganization(organization) };
  };
}
