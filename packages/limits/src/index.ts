export * from "./limits.ts";
export {
  awaitsPayment,
  billingStates,
  limitOf,
  planOf,
  planTargets,
  planTiers,
  tierOf,
  type BillingState,
  type Plan,
  type Plans,
  type PlanTarget,
  type PlanTier,
} from "./plans/plans.ts";
export { hostedPlans, parsePlans } from "./plans/hosted-plans.ts";
export {
  monthOf,
  LINE_BYTES,
  POINT_BYTES,
  ROW_BYTES,
  storageKinds,
  type Month,
  type StorageBytes,
  type StorageKind,
} from "./plans/usage.ts";
