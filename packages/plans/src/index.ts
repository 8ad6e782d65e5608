export { awaitsPayment, billingStates, type BillingState } from "./billing-states.ts";
export { hostedPlans } from "./hosted-plans.ts";
export { monthOf, type Month } from "./month.ts";
export { ROW_BYTES } from "./row-bytes.ts";
export { LINE_BYTES, POINT_BYTES, storageKinds, type StorageBytes, type StorageKind } from "./storage-kinds.ts";
export { parsePlans } from "./parse-plans.ts";
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
} from "./plans.ts";
