import type { RunStatus, StopState } from "./run-state.ts";

/** An event that can happen to a run. An acknowledgement that names a request other than the stored one is a separate trigger. */
export type Trigger =
  | "resume"
  | "patch_running"
  | "patch_finished"
  | "patch_failed"
  | "stop"
  | "ack_acknowledged"
  | "ack_completed"
  | "ack_other_request";

/** The outcome of an event; the API's answers (200 with flags, or 409) follow from it. */
export type Outcome =
  | "attached"
  | "resumed"
  | "patched"
  | "requested"
  | "already_requested"
  | "already_terminal"
  | "acknowledged"
  | "completed"
  | "stop_id_mismatch";

/** One row: in any of `status` and any of `stop`, the trigger leads to `statusTo` and `stopTo` (unchanged when absent) with this outcome. */
export type TransitionRow = {
  readonly on: Trigger;
  readonly status: readonly RunStatus[];
  readonly stop: readonly StopState[];
  readonly statusTo?: RunStatus;
  readonly stopTo?: StopState;
  readonly outcome: Outcome;
};

/** Every run status. */
export const RUN_STATUSES: readonly RunStatus[] = ["running", "finished", "failed"];

/** Every stop state. */
export const STOP_STATES: readonly StopState[] = [
  "none",
  "requested",
  "acknowledged",
  "completed",
  "terminal_without_completion",
];

const anyStatus = RUN_STATUSES;
const running: readonly RunStatus[] = ["running"];
const terminal: readonly RunStatus[] = ["finished", "failed"];
const anyStop = STOP_STATES;
const pending: readonly StopState[] = ["requested", "acknowledged"];
const notPending: readonly StopState[] = ["none", "completed", "terminal_without_completion"];
const asked: readonly StopState[] = ["requested", "acknowledged", "completed", "terminal_without_completion"];
const askedAndPastRequest: readonly StopState[] = ["acknowledged", "completed", "terminal_without_completion"];

/**
 * How a run's status and stop state change (API specification, States and transitions). Exactly one row applies to each trigger, status
 * and stop state, and none to an acknowledgement of a run without a request, which is `ack_other_request`.
 *
 * Where the specification is silent: a PATCH back to running touches nothing but the status; a run that ends by PATCH with its stop still
 * pending has `terminal_without_completion`, and completing that stop later is accepted; completing the stop of a running run makes it
 * failed, also when it completed before and was set back to running since; a running run whose last stop is over can be asked again.
 */
export const TRANSITIONS: readonly TransitionRow[] = [
  { on: "resume", status: running, stop: anyStop, outcome: "attached" },
  { on: "resume", status: terminal, stop: anyStop, statusTo: "running", stopTo: "none", outcome: "resumed" },

  { on: "patch_running", status: anyStatus, stop: anyStop, statusTo: "running", outcome: "patched" },
  {
    on: "patch_finished",
    status: anyStatus,
    stop: pending,
    statusTo: "finished",
    stopTo: "terminal_without_completion",
    outcome: "patched",
  },
  { on: "patch_finished", status: anyStatus, stop: notPending, statusTo: "finished", outcome: "patched" },
  {
    on: "patch_failed",
    status: anyStatus,
    stop: pending,
    statusTo: "failed",
    stopTo: "terminal_without_completion",
    outcome: "patched",
  },
  { on: "patch_failed", status: anyStatus, stop: notPending, statusTo: "failed", outcome: "patched" },

  { on: "stop", status: terminal, stop: anyStop, outcome: "already_terminal" },
  { on: "stop", status: running, stop: pending, outcome: "already_requested" },
  { on: "stop", status: running, stop: notPending, stopTo: "requested", outcome: "requested" },

  { on: "ack_acknowledged", status: anyStatus, stop: ["requested"], stopTo: "acknowledged", outcome: "acknowledged" },
  { on: "ack_acknowledged", status: anyStatus, stop: askedAndPastRequest, outcome: "acknowledged" },
  { on: "ack_completed", status: running, stop: asked, statusTo: "failed", stopTo: "completed", outcome: "completed" },
  { on: "ack_completed", status: terminal, stop: asked, stopTo: "completed", outcome: "completed" },
  { on: "ack_other_request", status: anyStatus, stop: anyStop, outcome: "stop_id_mismatch" },
];

const byCell = new Map<string, TransitionRow>();
for (const row of TRANSITIONS) {
  for (const status of row.status) for (const stop of row.stop) byCell.set(`${row.on} ${status} ${stop}`, row);
}

/** Returns the row that applies. @throws Error for an acknowledgement of a run without a stop request, to which no row applies */
export function transitionRow(on: Trigger, status: RunStatus, stop: StopState): TransitionRow {
  const row = byCell.get(`${on} ${status} ${stop}`);
  if (row === undefined) throw new Error(`no transition for ${on} of a ${status} run with stop state ${stop}`);
  return row;
}
