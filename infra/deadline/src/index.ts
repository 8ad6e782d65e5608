export { currentDeadlineMs, currentOrg, deadlineExceeded, stopIfOver, underDeadline, whenOver } from "./deadline.ts";
