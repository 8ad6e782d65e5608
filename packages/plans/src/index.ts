export { parsePlans } from "./parse-plans.ts";
export {
  awaitsPayment,
  billingStates,
  hostedPlans,
  planOf,
  planTiers,
  type BillingState,
  type Plan,
  type Plans,
  type PlanTier,
} from "./plans.ts";
