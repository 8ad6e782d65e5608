export { applyRunEvent } from "./apply-run-event.ts";
export type { RunEvent, Transition } from "./apply-run-event.ts";
export { displayStatus, isStopPending, isStopRequested } from "./derived-status.ts";
export { appendLifecycle, LIFECYCLE_ENTRIES_MAX } from "./lifecycle.ts";
export type { LifecycleEntry } from "./lifecycle.ts";
export { isTerminal, newRunState, NO_STOP } from "./run-state.ts";
export type { DisplayStatus, RunState, RunStatus, StopActor, StopRecord, StopState } from "./run-state.ts";
export { RUN_STATUSES, STOP_STATES } from "./transition-table.ts";
export type { Outcome } from "./transition-table.ts";
