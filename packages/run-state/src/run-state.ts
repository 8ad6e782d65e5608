/** Stored status of a run (API specification, States and transitions). */
export type RunStatus = "running" | "finished" | "failed";

/**
 * Where a stop request stands. `none`: never asked, or forgotten by a resume. `requested` and `acknowledged`: the training process is still
 * expected to stop. `completed`: it said that it stopped. `terminal_without_completion`: the run ended without saying so.
 */
export type StopState = "none" | "requested" | "acknowledged" | "completed" | "terminal_without_completion";

/** What a reader sees: the stored status with the stop state folded in (API specification, Derived display status). */
export type DisplayStatus = "running" | "stopping" | "stopped" | "finished" | "failed";

/** Who asked for a stop: a browser session, an API key, an installation without credentials, or nobody known. */
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
 * Everything of a run that its transitions read or write. A terminal run always has a finish time; a running one may still carry the time
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

/** The stop record of a run that nobody has asked to stop. */
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

/** The state of a run, or of a fork, that is created at `at`: running, never resumed, never asked to stop. */
export function newRunState(at: Date): RunState {
  return { status: "running", startedAt: at, finishedAt: null, resumeCount: 0, resumedAt: null, stop: NO_STOP };
}

/** True for `finished` and `failed`. */
export function isTerminal(status: RunStatus): boolean {
  return status !== "running";
}
