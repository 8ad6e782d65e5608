export {
  currentDeadlineMs,
  currentOrg,
  deadlineExceeded,
  stopIfOver,
  underDeadline,
  whenOver,
} from "./deadline/deadline.ts";
export { LATE_MS } from "./turns/caps.rules.ts";
export { createFairShare, NO_TENANT, type Use } from "./turns/fair-share.rules.ts";
export { createPauses, finishInTurns, mapInTurns, nextTurn } from "./turns/pauses.ts";
export { busy, createTurns, type Turn, type Turns, type Waiting } from "./turns/turns.ts";
export { answerTasks, type Sent } from "./threads/answer-tasks.ts";
export { createThreads, type Threads } from "./threads/threads.ts";
export { createGroupCommit, type GroupCommit } from "./jobs/group-commit.ts";
export type { Queued } from "./jobs/group-queue.rules.ts";
export { underLease, type Lease } from "./jobs/lease.ts";
export { createRefresher, type Refresher, type RefresherOptions } from "./jobs/refresher.ts";
export { oneAtATime, startRounds, type OneAtATime, type Rounds } from "./jobs/rounds.ts";
export { startRunner, type Runner } from "./jobs/runner.ts";
