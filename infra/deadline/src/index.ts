export { currentDeadlineMs, deadlineExceeded, stopIfOver, underDeadline, whenOver } from "./deadline.ts";
