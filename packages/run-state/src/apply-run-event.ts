import {
  isTerminal,
  NO_STOP,
  type LifecycleEntry,
  type RunState,
  type RunStatus,
  type StopActor,
  type StopRecord,
} from "./run-state.ts";
import { transitionRow, type Outcome, type TransitionRow, type Trigger } from "./transition-table.ts";

/**
 * What a caller asks of a run that exists. `resume`: POST /runs with mode `resume`. `patch`: a status by PATCH. `stop`: a stop request;
 * `requestId` is the id that a new request gets. `ack`: the training process answers the request `requestId`; `message` counts only for
 * `completed`.
 */
export type RunEvent =
  | { readonly kind: "resume" }
  | { readonly kind: "patch"; readonly status: RunStatus }
  | { readonly kind: "stop"; readonly requestId: string; readonly reason: string | null; readonly actor: StopActor }
  | {
      readonly kind: "ack";
      readonly requestId: string;
      readonly state: "acknowledged" | "completed";
      readonly message: string | null;
    };

/**
 * The result of an event. `changed` is false exactly when `state` is the same object as before, so that nothing has to be written.
 * `lifecycle` is the entry to append to the run's lifecycle, or null.
 */
export type Transition = {
  readonly state: RunState;
  readonly changed: boolean;
  readonly outcome: Outcome;
  readonly lifecycle: LifecycleEntry | null;
};

/**
 * Applies one event at time `at`, by the transition table (API specification, States and transitions). Pure: the input is never
 * modified. Repeating an event changes nothing: the first finish time, stop times, reason and completion message are kept.
 */
export function applyRunEvent(state: RunState, event: RunEvent, at: Date): Transition {
  const row = transitionRow(triggerOf(state, event), state.status, state.stop.state);
  const next: RunState = {
    ...state,
    ...statusChange(state, row, at),
    stop: stopChange(state.stop, event, row.outcome, row.stopTo ?? state.stop.state, at),
  };
  const changed = next.status !== state.status || next.finishedAt !== state.finishedAt || next.stop !== state.stop;
  const lifecycle: LifecycleEntry | null =
    row.outcome === "resumed" ? { statusFrom: state.status, statusTo: next.status, at, kind: "resume" } : null;
  return { state: changed ? next : state, changed, outcome: row.outcome, lifecycle };
}

function triggerOf(state: RunState, event: RunEvent): Trigger {
  switch (event.kind) {
    case "patch":
      return `patch_${event.status}`;
    case "ack":
      // A run that was never asked does not have a request id, so that every acknowledgement names another request.
      if (state.stop.requestId !== event.requestId) return "ack_other_request";
      return `ack_${event.state}`;
    default:
      return event.kind;
  }
}

function statusChange(state: RunState, { statusTo, outcome }: TransitionRow, at: Date): Partial<RunState> {
  if (statusTo === undefined) return {};
  if (outcome === "resumed")
    return { status: statusTo, finishedAt: null, resumeCount: state.resumeCount + 1, resumedAt: at };
  return { status: statusTo, finishedAt: isTerminal(statusTo) ? (state.finishedAt ?? at) : state.finishedAt };
}

function stopChange(
  stop: StopRecord,
  event: RunEvent,
  outcome: Outcome,
  to: StopRecord["state"],
  at: Date,
): StopRecord {
  if (outcome === "resumed") return stop.state === "none" ? stop : NO_STOP;
  if (outcome === "requested" && event.kind === "stop") {
    const { requestId, reason, actor } = event;
    return { ...NO_STOP, state: to, requestId, reason, actor, requestedAt: at, updatedAt: at };
  }
  const answered = event.kind === "ack" && outcome !== "stop_id_mismatch";
  const finished = answered && event.state === "completed";
  const next: StopRecord = {
    ...stop,
    state: to,
    acknowledgedAt: answered ? (stop.acknowledgedAt ?? at) : stop.acknowledgedAt,
    completedAt: finished ? (stop.completedAt ?? at) : stop.completedAt,
    completionMessage: finished ? (stop.completionMessage ?? event.message) : stop.completionMessage,
  };
  const same =
    next.state === stop.state &&
    next.acknowledgedAt === stop.acknowledgedAt &&
    next.completedAt === stop.completedAt &&
    next.completionMessage === stop.completionMessage;
  return same ? stop : { ...next, updatedAt: at };
}
