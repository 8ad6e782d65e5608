export * from "./limits.ts";
export {
  awaitsPayment,
  billingStates,
  type BillingState,
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
export { hostedPlans, parsePlans } from "./plans/hosted-plans.ts";
export {
  monthOf,
  type Month,
  LINE_BYTES,
  POINT_BYTES,
  ROW_BYTES,
  storageKinds,
  type StorageBytes,
  type StorageKind,
} from "./plans/usage.ts";
