import { AppError, badRequest } from "@tidemark/errors";
import { awaitsPayment, billingStates, type BillingState, type Plans, type PlanTier } from "@tidemark/plans";

/** The kind of an organization. A personal one has one seat, and no other person can be invited to it. */
export type AccountType = "personal" | "business" | "customer";

const accountTypes: readonly AccountType[] = ["personal", "business", "customer"];

// Clients still send the older names.
const plansByName: Readonly<Record<string, PlanTier>> = {
  free: "free",
  pro: "pro",
  premium: "premium",
  lab: "pro",
  startup: "pro",
  growth: "premium",
};

/** Returns the plan of a name or of one of its older names; an empty name means free. @throws bad_request */
export function readPlanTier(name: string): PlanTier {
  if (name === "") return "free";
  const plan = Object.hasOwn(plansByName, name) ? plansByName[name] : undefined;
  if (plan === undefined) throw badRequest("plan_tier must be one of free, pro, premium", "plan_tier");
  return plan;
}

/** Returns the kind of organization of a name, which must be one of `allowed`. @throws bad_request */
export function readAccountType(name: string, allowed: readonly AccountType[] = accountTypes): AccountType {
  const type = allowed.find((known) => known === name);
  if (type === undefined) throw badRequest(`account_type must be one of ${allowed.join(", ")}`, "account_type");
  return type;
}

/** Returns the billing state in which an organization begins. */
export function firstBillingState(plan: PlanTier): BillingState {
  return plan === "free" ? "free_active" : "paid_active";
}

/** Returns the billing state of a name. @throws bad_request for a state that does not exist */
export function readBillingState(name: string): BillingState {
  const state = billingStates.find((known) => known === name);
  if (state === undefined) {
    throw badRequest(`billing_state must be one of ${billingStates.join(", ")}`, "billing_state");
  }
  return state;
}

/**
 * Checks that the organization may add anything new. `action` ends the sentence "... before you can".
 * @throws payment_required (API specification, Errors)
 */
export function requirePaid(state: string, action: string): void {
  if (awaitsPayment(state)) {
    throw new AppError("payment_required", `the organization needs billing action before you can ${action}`);
  }
}

/** Checks that the plan costs nothing: there is no payment provider, so that only an operator can set a paid plan. @throws billing_unavailable */
export function requireFreePlan(plan: PlanTier): void {
  if (plan === "free") return;
  throw new AppError("billing_unavailable", "this installation takes no payments; ask its operator for another plan");
}

/** Returns how many people an organization may have, pending invitations counted. */
export function seatLimit(plans: Plans, plan: PlanTier, account: AccountType): number {
  return account === "personal" ? 1 : plans[plan].included_seats;
}

/** Checks that others can be invited: a personal organization is for one person. @throws personal_workspace_invite_forbidden */
export function requireTeam({ account_type: accountType }: { readonly account_type: AccountType }): void {
  if (accountType !== "personal") return;
  throw new AppError(
    "personal_workspace_invite_forbidden",
    "nobody can be invited to a personal organization; create another organization",
  );
}

/** Returns the error that every seat of the plan is taken. */
export function seatLimitReached(limit: number): AppError {
  return new AppError("invite_seat_limit_reached", `the organization has no seat left (limit ${limit})`);
}
