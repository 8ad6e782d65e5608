export { auditActor } from "./audit-actor.ts";
export { exportedRuns, requireExportedIds } from "./exported-runs.ts";
export {
  callerOf,
  canBeFound,
  canSee,
  isUuid,
  pathId,
  readPage,
  requireLimit,
  throwFault,
  type Caller,
} from "./requests.ts";
export { createMemoryShares } from "./memory-shares.rules.ts";
export { readRemovalScope } from "./removal-scope.ts";
export { requireRows } from "./restored-rows.ts";
export { refuseUnpaid } from "./refuse-unpaid.ts";
export {
  createRunDirectory,
  forgetAllRuns,
  forgetRuns,
  type FindRuns,
  type RunChange,
  type RunDirectory,
  type RunRef,
} from "./run-directory.ts";
export { watchRuns } from "./watch-runs.ts";
export { admitChange, admitWithin, admitWrite, isPlanRefusal } from "./plan-limits/admit-write.ts";
export { gateOfSettings } from "./plan-limits/gate-of-settings.ts";
export { loadPlans } from "./plan-limits/load-plans.ts";
export { createPlanGate, openGate, withStorage, type PlanGate } from "./plan-limits/plan-gate.ts";
