export { loadPlans } from "./load-plans.ts";
export { createPlanGate, openGate, type PlanGate } from "./plan-gate.ts";
export { quotaReader } from "./quota-reader.ts";
