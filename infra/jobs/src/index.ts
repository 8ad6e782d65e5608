export { createGroupCommit, type GroupCommit } from "./group-commit.ts";
export type { Queued } from "./group-queue.rules.ts";
export { underLease, type Lease } from "./lease.ts";
export { createRefresher, type Refresher, type RefresherOptions } from "./refresher.ts";
export { startRounds, type Rounds } from "./rounds.ts";
export { startRunner, type Runner } from "./runner.ts";
