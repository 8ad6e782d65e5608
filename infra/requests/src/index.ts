export {
  auditActor,
  callerOf,
  canBeFound,
  canSee,
  isUuid,
  pathId,
  readPage,
  refuseUnpaid,
  requireLimit,
  throwFault,
  type Caller,
} from "./requests.ts";
export { exportedRuns, requireExportedIds, requireRows } from "./exported-runs.ts";
export { createMemoryShares } from "./memory-shares.rules.ts";
export { readRemovalScope } from "./removal-scope.ts";
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
export { gateOfSettings, loadPlans } from "./plan-limits/gate-of-settings.ts";
export { createPlanGate, openGate, withStorage, type PlanGate } from "./plan-limits/plan-gate.ts";
