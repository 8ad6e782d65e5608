import { AppError } from "@tidemark/errors";
import { awaitsPayment } from "@tidemark/plans";

/** How many projects and runs an organization may have. */
export type PlanLimits = { readonly projects: number; readonly runs: number };

/** What an organization has. */
export type PlanUsage = { readonly projects: number; readonly runs: number };

/** What a request would add. */
export type PlanWish = { readonly project: boolean; readonly run: boolean };

/** Refuses new projects and runs while a payment is due. @throws payment_required */
export function refuseUnpaid(billingState: string): void {
  if (!awaitsPayment(billingState)) return;
  throw new AppError("payment_required", "the organization needs a billing action before it can create anything new");
}

/** Refuses what would go beyond the plan. @throws plan_limit_exceeded */
export function refuseBeyondPlan(usage: PlanUsage, limits: PlanLimits, wanted: PlanWish): void {
  if (wanted.project && usage.projects >= limits.projects) throw beyond("projects", limits.projects);
  if (wanted.run && usage.runs >= limits.runs) throw beyond("runs", limits.runs);
}

// More creates than this at once are not in flight for one organization.
const MARGIN = 200;

/**
 * Whether creates of this organization have to queue up to be counted exactly. Far from its limits
 * they need not, and a lock for all of them would make an organization's creates wait for each other.
 */
export function isNearPlan(usage: PlanUsage, limits: PlanLimits, wanted: PlanWish): boolean {
  return (
    (wanted.project && usage.projects + MARGIN >= limits.projects) || (wanted.run && usage.runs + MARGIN >= limits.runs)
  );
}

function beyond(what: string, limit: number): AppError {
  return new AppError("plan_limit_exceeded", `the organization's plan allows ${limit} ${what}`);
}
