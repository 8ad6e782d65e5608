import type { RunState, RunStatus, StopActor, StopState } from "./run-state.ts";

const texts = new WeakMap<Date, string>();

/**
 * Returns an RFC 3339 text as a Date. A Date does not have microseconds, so the text is kept with it: an instant that a
 * transition passes on is written back exactly.
 */
export function instantOf(text: string): Date {
  const date = new Date(text);
  texts.set(date, text);
  return date;
}

/** Returns the text that `instantOf` made the Date of, else the Date's own ISO text. */
export function instantText(date: Date): string {
  return texts.get(date) ?? date.toISOString();
}

/** A run's state as a row: what `runs.lock_state_v1` returns. Instants are RFC 3339 texts. */
export type RunStateRow = {
  readonly status: RunStatus;
  readonly started_at: string;
  readonly finished_at: string | null;
  readonly resume_count: number;
  readonly resumed_at: string | null;
  readonly stop_state: StopState;
  readonly stop_request_id: string | null;
  readonly stop_reason: string | null;
  readonly stop_completion_message: string | null;
  readonly stop_actor: StopActor | null;
  readonly stop_requested_at: string | null;
  readonly stop_acknowledged_at: string | null;
  readonly stop_completed_at: string | null;
  readonly stop_updated_at: string | null;
};

/** The columns of a state that transitions write: the parameters of `runs.set_state_v1` after the run, in their order, with their types. */
export const stateColumns = {
  status: "text",
  finished_at: "timestamptz",
  resume_count: "integer",
  resumed_at: "timestamptz",
  stop_state: "text",
  stop_request_id: "uuid",
  stop_reason: "text",
  stop_completion_message: "text",
  stop_actor: "text",
  stop_requested_at: "timestamptz",
  stop_acknowledged_at: "timestamptz",
  stop_completed_at: "timestamptz",
  stop_updated_at: "timestamptz",
} as const satisfies Partial<Record<keyof RunStateRow, string>>;

/** The names of `stateColumns`, in their order. */
export const stateColumnNames = Object.keys(stateColumns) as readonly (keyof typeof stateColumns)[];

const optionalInstant = (text: string | null): Date | null => (text === null ? null : instantOf(text));
const optionalText = (date: Date | null): string | null => (date === null ? null : instantText(date));

/** Returns the state of a row. */
export function stateOfRow(row: RunStateRow): RunState {
  return {
    status: row.status,
    startedAt: instantOf(row.started_at),
    finishedAt: optionalInstant(row.finished_at),
    resumeCount: row.resume_count,
    resumedAt: optionalInstant(row.resumed_at),
    stop: {
      state: row.stop_state,
      requestId: row.stop_request_id,
      reason: row.stop_reason,
      completionMessage: row.stop_completion_message,
      actor: row.stop_actor,
      requestedAt: optionalInstant(row.stop_requested_at),
      acknowledgedAt: optionalInstant(row.stop_acknowledged_at),
      completedAt: optionalInstant(row.stop_completed_at),
      updatedAt: optionalInstant(row.stop_updated_at),
    },
  };
}

/** Returns the row of a state; instants that were read from a row are the same texts. */
export function rowOfState(state: RunState): RunStateRow {
  const { stop } = state;
  return {
    status: state.status,
    started_at: instantText(state.startedAt),
    finished_at: optionalText(state.finishedAt),
    resume_count: state.resumeCount,
    resumed_at: optionalText(state.resumedAt),
    stop_state: stop.state,
    stop_request_id: stop.requestId,
    stop_reason: stop.reason,
    stop_completion_message: stop.completionMessage,
    stop_actor: stop.actor,
    stop_requested_at: optionalText(stop.requestedAt),
    stop_acknowledged_at: optionalText(stop.acknowledgedAt),
    stop_completed_at: optionalText(stop.completedAt),
    stop_updated_at: optionalText(stop.updatedAt),
  };
}
