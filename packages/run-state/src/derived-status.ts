import type { DisplayStatus, RunStatus, StopState } from "./run-state.ts";

/** Every status that can be shown. */
export const DISPLAY_STATUSES: readonly DisplayStatus[] = ["running", "stopping", "stopped", "finished", "failed"];

/**
 * The status to show: a running run whose stop is requested or acknowledged is `stopping`, a finished or failed run whose stop completed is
 * `stopped`, every other run shows its stored status (API specification, Derived display status).
 */
export function displayStatus(status: RunStatus, stopState: StopState): DisplayStatus {
  if (isStopPending(status, stopState)) return "stopping";
  if (status !== "running" && stopState === "completed") return "stopped";
  return status;
}

/** Whether a training process that polls must be told to stop: only while the run is running and the request is not yet carried out. */
export function isStopPending(status: RunStatus, stopState: StopState): boolean {
  return status === "running" && (stopState === "requested" || stopState === "acknowledged");
}

/**
 * The field `stop_requested` of `run_control`: true also after the stop completed, false for a run that ended without completing it.
 * (The stop signal has a field of the same name that follows {@link isStopPending} instead.)
 */
export function isStopRequested(stopState: StopState): boolean {
  return stopState === "requested" || stopState === "acknowledged" || stopState === "completed";
}
