import { AppError, badRequest } from "@tidemark/errors";
import { awaitsPayment, billingStates, type BillingState, type PlanTier } from "@tidemark/plans";

/** The state in which an organization begins. */
export function firstBillingState(plan: PlanTier): BillingState {
  return plan === "free" ? "free_active" : "paid_active";
}

/** @throws bad_request for a state that does not exist */
export function readBillingState(name: string): BillingState {
  const state = billingStates.find((known) => known === name);
  if (state === undefined) {
    throw badRequest(`billing_state must be one of ${billingStates.join(", ")}`, "billing_state");
  }
  return state;
}

/**
 * Lets an organization go on that may add to itself. `action` ends the sentence "... before you can".
 * @throws payment_required (API specification, Errors)
 */
export function requirePaid(state: string, action: string): void {
  if (awaitsPayment(state)) {
    throw new AppError("payment_required", `the organization needs billing action before you can ${action}`);
  }
}
