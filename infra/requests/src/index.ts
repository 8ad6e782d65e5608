export { callerOf, canSee, isUuid, pathId, readPage, requireLimit, throwFault, type Caller } from "./requests.ts";
