/** Stored status of a run (API specification, States and transitions). */
export type RunStatus = "running" | "finished" | "failed";

/**
 * The progress of a stop request. `none`: never requested, or cleared by a resume. `requested` and `acknowledged`: the training process
 * still has to stop. `completed`: it said that it stopped. `terminal_without_completion`: the run ended without saying so.
 */
export type StopState = "none" | "requested" | "acknowledged" | "completed" | "terminal_without_completion";

/** The status that a reader sees: the stored status combined with the stop state (API specification, Derived display status). */
export type DisplayStatus = "running" | "stopping" | "stopped" | "finished" | "failed";

/** Who asked for a stop: a browser session, an API key, an installation without credentials, or an unknown caller. */
export type StopActor = "user" | "api_key" | "local" | "unknown";

/** The stop record of a run. In state `none` every other field is null. */
export type StopRecord = {
  readonly state: StopState;
  readonly requestId: string | null;
  readonly reason: string | null;
  readonly completionMessage: string | null;
  readonly actor: StopActor | null;
  readonly requestedAt: Date | null;
  readonly acknowledgedAt: Date | null;
  readonly completedAt: Date | null;
  readonly updatedAt: Date | null;
};

/**
 * Everything of a run that its transitions read or write. A terminal run always has a finish time; a running one may still have the time
 * of an earlier finish, because only a resume clears it.
 */
export type RunState = {
  readonly status: RunStatus;
  readonly startedAt: Date;
  readonly finishedAt: Date | null;
  readonly resumeCount: number;
  readonly resumedAt: Date | null;
  readonly stop: StopRecord;
};

/** The stop record of a run that was never asked to stop. */
export const NO_STOP: StopRecord = {
  state: "none",
  requestId: null,
  reason: null,
  completionMessage: null,
  actor: null,
  requestedAt: null,
  acknowledgedAt: null,
  completedAt: null,
  updatedAt: null,
};

/** Returns the state of a run, or of a fork, that is created at `at`: running, never resumed, never asked to stop. */
export function newRunState(at: Date): RunState {
  return { status: "running", startedAt: at, finishedAt: null, resumeCount: 0, resumedAt: null, stop: NO_STOP };
}

/** Returns whether a status is an end: `finished` or `failed`. */
export function isTerminal(status: RunStatus): boolean {
  return status !== "running";
}

/** Every display status. */
export const DISPLAY_STATUSES: readonly DisplayStatus[] = ["running", "stopping", "stopped", "finished", "failed"];

/**
 * Returns the status to show: a running run whose stop is requested or acknowledged is `stopping`, a finished or failed run whose stop completed is
 * `stopped`, every other run shows its stored status (API specification, Derived display status).
 */
export function displayStatus(status: RunStatus, stopState: StopState): DisplayStatus {
  if (isStopPending(status, stopState)) return "stopping";
  if (status !== "running" && stopState === "completed") return "stopped";
  return status;
}

/** Returns whether a training process that polls must stop: only while the run is running and has not carried out the request. */
export function isStopPending(status: RunStatus, stopState: StopState): boolean {
  return status === "running" && (stopState === "requested" || stopState === "acknowledged");
}

/**
 * Returns the field `stop_requested` of `run_control`: true also after the stop completed, false for a run that ended without completing it.
 * (The stop signal has a field of the same name that follows {@link isStopPending} instead.)
 */
export function isStopRequested(stopState: StopState): boolean {
  return stopState === "requested" || stopState === "acknowledged" || stopState === "completed";
}

/** One entry of a run's lifecycle: a resume brought it from `statusFrom` back to `statusTo` at `at`. A status set by PATCH leaves no entry. */
export type LifecycleEntry = {
  readonly statusFrom: RunStatus;
  readonly statusTo: RunStatus;
  readonly at: Date;
  readonly kind: "resume";
};

/** A run keeps its last 20 lifecycle entries. */
export const LIFECYCLE_ENTRIES_MAX = 20;

/** Returns the entries with `entry` at the end, without the oldest when there are more than {@link LIFECYCLE_ENTRIES_MAX}. Does not change the input. */
export function appendLifecycle<Entry>(entries: readonly Entry[], entry: Entry): Entry[] {
  return [...entries, entry].slice(-LIFECYCLE_ENTRIES_MAX);
}
