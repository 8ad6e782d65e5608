import { badRequest } from "@tidemark/errors";
import type { PlanTier } from "@tidemark/plans";

/** What kind of organization it is; a personal one has one seat and nobody can be invited to it. */
export type AccountType = "personal" | "business" | "customer";

// Every kind of organization.
const accountTypes: readonly AccountType[] = ["personal", "business", "customer"];

// The older names are still in use by callers.
const names: Readonly<Record<string, PlanTier>> = {
  free: "free",
  pro: "pro",
  premium: "premium",
  lab: "pro",
  startup: "pro",
  growth: "premium",
};

/** Reads a plan's name or one of its older names; empty means free. @throws bad_request */
export function readPlanTier(name: string): PlanTier {
  if (name === "") return "free";
  const plan = Object.hasOwn(names, name) ? names[name] : undefined;
  if (plan === undefined) throw badRequest("plan_tier must be one of free, pro, premium", "plan_tier");
  return plan;
}

/** Reads a kind of organization. @throws bad_request */
export function readAccountType(name: string, allowed: readonly AccountType[] = accountTypes): AccountType {
  const type = allowed.find((known) => known === name);
  if (type === undefined) throw badRequest(`account_type must be one of ${allowed.join(", ")}`, "account_type");
  return type;
}
