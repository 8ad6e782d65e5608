export * from "./limits.ts";
export { awaitsPayment, billingStates, type BillingState } from "./plans/billing-states.ts";
export { hostedPlans } from "./plans/hosted-plans.ts";
export { monthOf, type Month } from "./plans/month.ts";
export {
  LINE_BYTES,
  POINT_BYTES,
  ROW_BYTES,
  storageKinds,
  type StorageBytes,
  type StorageKind,
} from "./plans/storage-kinds.ts";
export { parsePlans } from "./plans/parse-plans.ts";
export {
  limitOf,
  planOf,
  planTargets,
  planTiers,
  tierOf,
  type Plan,
  type Plans,
  type PlanTarget,
  type PlanTier,
} from "./plans/plans.ts";
