export { currentDeadlineMs, deadlineExceeded, underDeadline } from "./deadline.ts";
