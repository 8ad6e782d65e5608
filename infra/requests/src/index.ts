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
export { exportedRuns, requireExportedIds, requireRows, readRemovalScope } from "./named-runs.ts";
export { createMemoryShares } from "./memory-shares.rules.ts";
export {
  createRunDirectory,
  forgetAllRuns,
  forgetRuns,
  watchRuns,
  type FindRuns,
  type RunChange,
  type RunDirectory,
  type RunRef,
} from "./run-directory.ts";
export { admitChange, admitWithin, admitWrite, isPlanRefusal } from "./plan-limits/admit-write.ts";
export {
  gateOfSettings,
  loadPlans,
  createPlanGate,
  openGate,
  withStorage,
  type PlanGate,
} from "./plan-limits/plan-gate.ts";
