export { admitChange, admitWithin, admitWrite, isPlanRefusal } from "./admit-write.ts";
export { gateOfSettings } from "./gate-of-settings.ts";
export { loadPlans } from "./load-plans.ts";
export { createPlanGate, openGate, withStorage, type PlanGate } from "./plan-gate.ts";
