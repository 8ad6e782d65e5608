export { exportedRuns, requireExportedIds } from "./exported-runs.ts";
export { callerOf, canSee, isUuid, pathId, readPage, requireLimit, throwFault, type Caller } from "./requests.ts";
export { refuseUnpaid } from "./refuse-unpaid.ts";
export { createRunDirectory, type FindRuns, type RunDirectory, type RunRef } from "./run-directory.ts";
