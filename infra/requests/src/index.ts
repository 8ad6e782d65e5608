export { callerOf, canSee, isUuid, pathId, readPage, requireLimit, throwFault, type Caller } from "./requests.ts";
export { createRunDirectory, type FindRuns, type RunDirectory, type RunRef } from "./run-directory.ts";
