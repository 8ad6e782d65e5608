import { applyRunEvent, type RunEvent } from "./apply-run-event.ts";
import { displayStatus, newRunState, type DisplayStatus, type RunState, type StopState } from "./run-state.ts";
import type { Outcome } from "./transition-table.ts";

export const startedAt = new Date("2026-01-02T03:00:00.000Z");
export const now = new Date("2026-01-02T09:00:00.000Z");

/** Returns the n-th minute of the history that leads to a row's state. */
export const minute = (n: number) => new Date(startedAt.getTime() + n * 60_000);

export const resume: RunEvent = { kind: "resume" };
export const toRunning: RunEvent = { kind: "patch", status: "running" };
export const finish: RunEvent = { kind: "patch", status: "finished" };
export const fail: RunEvent = { kind: "patch", status: "failed" };
export const stop: RunEvent = { kind: "stop", requestId: "r1", reason: "nan loss", actor: "api_key" };
export const stopAgain: RunEvent = { kind: "stop", requestId: "r2", reason: "again", actor: "user" };
export const acknowledge: RunEvent = { kind: "ack", requestId: "r1", state: "acknowledged", message: "on my way" };
export const complete: RunEvent = { kind: "ack", requestId: "r1", state: "completed", message: "saved" };
export const acknowledgeOther: RunEvent = { kind: "ack", requestId: "r9", state: "acknowledged", message: null };
export const completeOther: RunEvent = { kind: "ack", requestId: "r9", state: "completed", message: null };

/** Returns the state after a history; its n-th event (from 1) happens at minute n. */
export function after(...events: RunEvent[]): RunState {
  return events.reduce((state, event, i) => applyRunEvent(state, event, minute(i + 1)).state, newRunState(startedAt));
}

/** One row of a table test: after `history`, `event` has this outcome; fields that `expected` does not name stay unchanged. */
export type Row = {
  name: string;
  history: RunEvent[];
  event: RunEvent;
  outcome: Outcome;
  changed: boolean;
  shows: DisplayStatus;
  stopState: StopState;
  expected?: Partial<RunState>;
};

/** What a row's event does to the run at {@link now}; `untouched` when the state is the same object as before. */
export type Effect = Pick<Row, "outcome" | "changed" | "shows" | "stopState"> & { state: RunState; untouched: boolean };

/** Returns the effect of a row's event. */
export function effectOf({ history, event }: Row): Effect {
  const before = after(...history);
  const { state, outcome, changed } = applyRunEvent(before, event, now);
  const shows = displayStatus(state.status, state.stop.state);
  return { outcome, changed, shows, stopState: state.stop.state, state, untouched: state === before };
}

/** Returns the effect that a row expects, with every field of the state. */
export function expectedEffectOf({ history, outcome, changed, shows, stopState, expected }: Row): Effect {
  return { outcome, changed, shows, stopState, state: { ...after(...history), ...expected }, untouched: !changed };
}
