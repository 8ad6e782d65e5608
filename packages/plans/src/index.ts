export { awaitsPayment, billingStates, type BillingState } from "./billing-state.ts";
export { parsePlans } from "./parse-plans.ts";
export { hostedPlans, planOf, planTiers, type Plan, type Plans, type PlanTier } from "./plans.ts";
