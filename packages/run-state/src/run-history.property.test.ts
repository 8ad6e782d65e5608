import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { applyRunEvent, type RunEvent } from "./apply-run-event.ts";
import { NO_STOP, displayStatus, isTerminal, newRunState, type RunState } from "./run-state.ts";

const message = fc.option(fc.constantFrom("m1", "m2"), { nil: null });

/** An event of a history. Stop requests have new ids; acknowledgements name the n-th newest stored request, or one that never existed. */
type Command =
  | Exclude<RunEvent, { kind: "stop" | "ack" }>
  | { kind: "stop"; reason: string | null }
  | { kind: "ack"; request: number; state: "acknowledged" | "completed"; message: string | null };

const command: fc.Arbitrary<Command> = fc.oneof(
  fc.constant<Command>({ kind: "resume" }),
  fc.record({
    kind: fc.constant("patch" as const),
    status: fc.constantFrom("running" as const, "finished" as const, "failed" as const),
  }),
  fc.record({ kind: fc.constant("stop" as const), reason: fc.option(fc.constantFrom("a", "b"), { nil: null }) }),
  fc.record({
    kind: fc.constant("ack" as const),
    request: fc.integer({ min: 0, max: 3 }),
    state: fc.constantFrom("acknowledged" as const, "completed" as const),
    message,
  }),
);

/** State derived from requests and answers alone: an independent model of the same rules. */
type Model = {
  status: RunState["status"];
  finishedAt: number | null;
  resumes: number;
  pendingId: string | null;
  currentId: string | null;
  completed: boolean;
  reason: string | null;
};

function expectInvariants(state: RunState, model: Model) {
  expect(state.status).toBe(model.status);
  expect(state.finishedAt?.getTime() ?? null).toBe(model.finishedAt);
  if (isTerminal(state.status)) expect(state.finishedAt).not.toBeNull();
  expect(state.resumeCount).toBe(model.resumes);
  expect(state.resumedAt === null).toBe(model.resumes === 0);
  expect(state.stop.requestId).toBe(model.currentId);
  expect(state.stop.reason).toBe(model.reason);

  const { stop } = state;
  if (stop.state === "none") expect(stop).toEqual(NO_STOP);
  else {
    expect(stop.requestId).not.toBeNull();
    expect(stop.requestedAt).not.toBeNull();
    expect(stop.updatedAt).not.toBeNull();
  }
  expect(stop.completedAt !== null).toBe(stop.state === "completed");
  if (stop.state === "requested") expect(stop.acknowledgedAt).toBeNull();
  if (stop.state === "acknowledged" || stop.state === "completed") expect(stop.acknowledgedAt).not.toBeNull();
  if (stop.completionMessage !== null) expect(stop.state).toBe("completed");
  expect(stop.state === "requested" || stop.state === "acknowledged").toBe(model.pendingId !== null);
  if (isTerminal(state.status)) expect(model.pendingId).toBeNull();

  const shown =
    model.pendingId !== null ? "stopping" : isTerminal(model.status) && model.completed ? "stopped" : model.status;
  expect(displayStatus(state.status, stop.state)).toBe(shown);
}

/** Applies one event to the model and returns the expected outcome. */
function follow(model: Model, event: RunEvent, at: number): string {
  const end = (status: "finished" | "failed") => {
    model.status = status;
    model.finishedAt ??= at;
    model.pendingId = null;
  };
  switch (event.kind) {
    case "resume":
      if (!isTerminal(model.status)) return "attached";
      Object.assign(model, { status: "running", finishedAt: null, resumes: model.resumes + 1 });
      Object.assign(model, { pendingId: null, currentId: null, completed: false, reason: null });
      return "resumed";
    case "patch":
      if (event.status === "running") model.status = "running";
      else end(event.status);
      return "patched";
    case "stop":
      if (isTerminal(model.status)) return "already_terminal";
      if (model.pendingId !== null) return "already_requested";
      Object.assign(model, {
        pendingId: event.requestId,
        currentId: event.requestId,
        completed: false,
        reason: event.reason,
      });
      return "requested";
    case "ack":
      if (model.currentId !== event.requestId) return "stop_id_mismatch";
      if (event.state === "acknowledged") return "acknowledged";
      if (!isTerminal(model.status)) end("failed");
      model.completed = true;
      return "completed";
  }
}

describe("any history of a run", () => {
  test("keeps every invariant, answers as the rules say, and repeats change nothing", () => {
    fc.assert(
      fc.property(fc.array(command, { maxLength: 30 }), (commands) => {
        let state = newRunState(new Date(0));
        const model: Model = {
          status: "running",
          finishedAt: null,
          resumes: 0,
          pendingId: null,
          currentId: null,
          completed: false,
          reason: null,
        };
        const stored: string[] = [];
        commands.forEach((next, i) => {
          const at = new Date((i + 1) * 1000);
          const event: RunEvent =
            next.kind === "stop"
              ? { ...next, requestId: `stop-${i}`, actor: "user" }
              : next.kind === "ack"
                ? { ...next, requestId: stored.at(-1 - next.request) ?? "alien" }
                : next;
          const frozen = structuredClone(state);
          const result = applyRunEvent(state, event, at);
          expect(state).toEqual(frozen);
          expect(result.outcome).toBe(follow(model, event, at.getTime()));
          if (result.outcome === "requested" && event.kind === "stop") stored.push(event.requestId);
          expect(result.changed).toBe(result.state !== state);
          if (!result.changed) expect(result.state).toEqual(frozen);
          expect(result.state.startedAt).toEqual(new Date(0));
          expect(result.lifecycle !== null).toBe(result.outcome === "resumed");
          expectInvariants(result.state, model);

          const repeated = applyRunEvent(result.state, event, new Date(at.getTime() + 1));
          expect(repeated.changed).toBe(false);
          expect(repeated.state).toBe(result.state);
          state = result.state;
        });
      }),
      { numRuns: 500 },
    );
  });
});
