import { describe, expect, test } from "@jest/globals";
import { linearize } from "./linearize.ts";
import { runModel, type Answer, type Operation, type RunEntry, type SeenControl } from "./run-model.ts";

// A judge must also find faults: histories that are linear, and similar ones that are not.

const none: SeenControl = {
  stopState: "none",
  displayStatus: "running",
  id: null,
  reason: null,
  message: null,
  acknowledged: false,
  completed: false,
};
const asked: SeenControl = { ...none, stopState: "requested", displayStatus: "stopping", id: "s1", reason: "r" };
const stopped = (control: SeenControl, flags: { requested?: boolean; terminal?: boolean } = {}): Answer => ({
  kind: "stopped",
  alreadyRequested: flags.requested === true,
  alreadyTerminal: flags.terminal === true,
  control,
});
const run = (status: string, ended: boolean, resumes = 0, control?: SeenControl): Answer => ({
  kind: "run",
  run: { status, ended, resumes },
  control,
});
const stop: Operation = { kind: "stop", reason: "r" };
const finish: Operation = { kind: "patch", status: "finished" };
const complete: Operation = { kind: "ack", id: "s1", state: "completed", message: "m" };
const refused: Answer = { kind: "refused", status: 409 };
const done: SeenControl = {
  ...asked,
  stopState: "completed",
  displayStatus: "stopped",
  message: "m",
  acknowledged: true,
  completed: true,
};

/** A history in which the n-th line takes place at this time; lines that share moments are concurrent. */
const history = (...lines: [Operation, Answer, from: number, to: number][]): RunEntry[] =>
  lines.map(([operation, answer, begun, ended]) => ({ operation, answer, begun, ended }));

describe("a history is linear", () => {
  test.each<[string, RunEntry[]]>([
    ["when nothing happened", []],
    [
      "when a stop is repeated",
      history([stop, stopped(asked), 1, 2], [stop, stopped(asked, { requested: true }), 3, 4]),
    ],
    [
      "when of two simultaneous stops the second to answer was the first to work",
      history([stop, stopped(asked, { requested: true }), 1, 3], [stop, stopped(asked), 2, 4]),
    ],
    [
      "when a finish is between a stop and its completion",
      history(
        [stop, stopped(asked), 1, 2],
        [finish, run("finished", true), 3, 4],
        [complete, { kind: "acknowledged", control: done }, 5, 6],
        [{ kind: "read" }, run("finished", true, 0, done), 7, 8],
      ),
    ],
    [
      "when a resume has forgotten the request",
      history(
        [stop, stopped(asked), 1, 2],
        [complete, { kind: "acknowledged", control: done }, 3, 4],
        [{ kind: "resume" }, run("running", false, 1), 5, 6],
        [complete, refused, 7, 8],
        [{ kind: "signal" }, { kind: "signal", status: "running", pending: null, acknowledged: false }, 9, 10],
      ),
    ],
  ])("%s", (_what, entries) => {
    expect(linearize(entries, runModel)?.toSorted((a, b) => a.begun - b.begun)).toEqual(entries);
  });
});

describe("a history is not linear", () => {
  test.each<[string, RunEntry[]]>([
    [
      "when two stops are both the first",
      history([stop, stopped(asked), 1, 3], [stop, stopped({ ...asked, id: "s2" }), 2, 4]),
    ],
    [
      "when a stop that began after another had answered comes first",
      history([stop, stopped(asked, { requested: true }), 1, 2], [stop, stopped(asked), 3, 4]),
    ],
    [
      "when a read after a stop's answer does not show it",
      history([stop, stopped(asked), 1, 2], [{ kind: "read" }, run("running", false, 0, none), 3, 4]),
    ],
    [
      "when a signal after a stop's answer does not tell it",
      history(
        [stop, stopped(asked), 1, 2],
        [{ kind: "signal" }, { kind: "signal", status: "running", pending: null, acknowledged: false }, 3, 4],
      ),
    ],
    [
      "when a stop of an ended run is stored",
      history([finish, run("finished", true), 1, 2], [stop, stopped(asked), 3, 4]),
    ],
    [
      "when an acknowledgement of an old request is taken",
      history(
        [stop, stopped(asked), 1, 2],
        [finish, run("finished", true), 3, 4],
        [{ kind: "resume" }, run("running", false, 1), 5, 6],
        [complete, { kind: "acknowledged", control: done }, 7, 8],
      ),
    ],
    [
      "when a running run that is completed is not failed",
      history(
        [stop, stopped(asked), 1, 2],
        [complete, { kind: "acknowledged", control: done }, 3, 4],
        [{ kind: "read" }, run("running", false, 0, done), 5, 6],
      ),
    ],
    [
      "when one resume counts twice",
      history([finish, run("finished", true), 1, 2], [{ kind: "resume" }, run("running", false, 2), 3, 4]),
    ],
    [
      "when two reads disagree on which came first",
      history(
        [stop, stopped(asked), 1, 6],
        [{ kind: "read" }, run("running", false, 0, asked), 2, 3],
        [{ kind: "read" }, run("running", false, 0, none), 4, 5],
      ),
    ],
    ["when an answer is none that there is", history([stop, { kind: "refused", status: 500 }, 1, 2])],
  ])("%s", (_what, entries) => {
    expect(linearize(entries, runModel)).toBeUndefined();
  });
});
