import type { Entry, Model } from "./linearize.ts";

/** An operation of a client on a run. */
export type Operation =
  | { readonly kind: "stop"; readonly reason: string | null }
  | {
      readonly kind: "ack";
      readonly id: string;
      readonly state: "acknowledged" | "completed";
      readonly message: string | null;
    }
  | { readonly kind: "patch"; readonly status: RunStatus }
  | { readonly kind: "resume" }
  | { readonly kind: "read" }
  | { readonly kind: "signal" };

type RunStatus = "running" | "finished" | "failed";

/** The run's stop request in an answer. */
export type SeenControl = {
  readonly stopState: string;
  readonly displayStatus: string;
  readonly id: string | null;
  readonly reason: string | null;
  readonly message: string | null;
  readonly acknowledged: boolean;
  readonly completed: boolean;
};

/** The run itself in an answer. */
export type SeenRun = { readonly status: string; readonly ended: boolean; readonly resumes: number };

/** An answer that a client got. */
export type Answer =
  | { readonly kind: "refused"; readonly status: number }
  | {
      readonly kind: "stopped";
      readonly alreadyRequested: boolean;
      readonly alreadyTerminal: boolean;
      readonly control: SeenControl;
    }
  | { readonly kind: "acknowledged"; readonly control: SeenControl }
  | { readonly kind: "run"; readonly run: SeenRun; readonly control: SeenControl | undefined }
  | {
      readonly kind: "signal";
      readonly status: string;
      readonly pending: string | null;
      readonly acknowledged: boolean;
    };

/** A run as the API specification describes it (States and transitions), independent of the product's own table. */
export type RunModel = SeenRun & {
  readonly stop: "none" | "requested" | "acknowledged" | "completed" | "terminal_without_completion";
  readonly id: string | null;
  readonly reason: string | null;
  readonly message: string | null;
  readonly acknowledged: boolean;
  readonly completed: boolean;
};

const noStop = {
  stop: "none",
  id: null,
  reason: null,
  message: null,
  acknowledged: false,
  completed: false,
} as const satisfies Partial<RunModel>;

/** A run that was just created. */
const newRun: RunModel = { status: "running", ended: false, resumes: 0, ...noStop };

const isPending = ({ stop }: RunModel): boolean => stop === "requested" || stop === "acknowledged";

/**
 * Returns the state after an operation that got this answer in this state; undefined when it would have got
 * another one.
 */
function follow(state: RunModel, operation: Operation, answer: Answer): RunModel | undefined {
  const [next, expected] = step(state, operation, answer);
  return JSON.stringify(answer) === JSON.stringify(expected) ? next : undefined;
}

function step(state: RunModel, operation: Operation, answer: Answer): [RunModel, Answer] {
  switch (operation.kind) {
    case "stop":
      return stop(state, operation.reason, answer);
    case "ack":
      return acknowledge(state, operation);
    case "patch": {
      const { status } = operation;
      const ends = status !== "running";
      const next: RunModel = {
        ...state,
        status,
        ended: state.ended || ends,
        stop: ends && isPending(state) ? "terminal_without_completion" : state.stop,
      };
      return [next, { kind: "run", run: seenRun(next), control: undefined }];
    }
    case "resume": {
      const attach = state.status === "running";
      const next: RunModel = attach ? state : { ...newRun, resumes: state.resumes + 1 };
      return [next, { kind: "run", run: seenRun(next), control: undefined }];
    }
    case "read":
      return [state, { kind: "run", run: seenRun(state), control: seenControl(state) }];
    case "signal": {
      const told = state.status === "running" && isPending(state);
      const { status, id, acknowledged } = state;
      return [state, { kind: "signal", status, pending: told ? id : null, acknowledged: told && acknowledged }];
    }
  }
}

function stop(state: RunModel, reason: string | null, answer: Answer): [RunModel, Answer] {
  const alreadyTerminal = state.status !== "running";
  const alreadyRequested = !alreadyTerminal && isPending(state);
  // The server chooses the id of a new request; it is never one that the run had before.
  const chosen = answer.kind === "stopped" && answer.control.id !== state.id ? answer.control.id : "an id of its own";
  const next: RunModel =
    alreadyTerminal || alreadyRequested ? state : { ...state, ...noStop, stop: "requested", id: chosen, reason };
  return [next, { kind: "stopped", alreadyRequested, alreadyTerminal, control: seenControl(next) }];
}

function acknowledge(state: RunModel, ack: Extract<Operation, { kind: "ack" }>): [RunModel, Answer] {
  if (state.id !== ack.id) return [state, { kind: "refused", status: 409 }];
  let next: RunModel = { ...state, acknowledged: true };
  if (ack.state === "acknowledged") {
    if (state.stop === "requested") next = { ...next, stop: "acknowledged" };
  } else {
    const status = state.status === "running" ? "failed" : state.status;
    const message = state.message ?? ack.message;
    next = { ...next, status, ended: true, stop: "completed", completed: true, message };
  }
  return [next, { kind: "acknowledged", control: seenControl(next) }];
}

const seenRun = ({ status, ended, resumes }: RunModel): SeenRun => ({ status, ended, resumes });

function seenControl(state: RunModel): SeenControl {
  const { status, id, reason, message, acknowledged, completed } = state;
  let displayStatus = status;
  if (status === "running" && isPending(state)) displayStatus = "stopping";
  if (status !== "running" && state.stop === "completed") displayStatus = "stopped";
  return { stopState: state.stop, displayStatus, id, reason, message, acknowledged, completed };
}

/** How one run behaves. */
export const runModel: Model<RunModel, Operation, Answer> = { initial: newRun, follow };

/** An operation of the history of a run. */
export type RunEntry = Entry<Operation, Answer>;
