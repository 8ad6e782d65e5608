export { callerOf, canSee, type Caller } from "./caller.ts";
export { throwFault } from "./fault.ts";
export { isUuid, pathId } from "./ids.ts";
export { readPage, requireLimit } from "./page.ts";
