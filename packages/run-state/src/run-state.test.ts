import { describe, expect, test } from "@jest/globals";
import {
  appendLifecycle,
  displayStatus,
  isStopPending,
  isStopRequested,
  LIFECYCLE_ENTRIES_MAX,
  type DisplayStatus,
  type RunStatus,
  type StopState,
} from "./run-state.ts";

const rows: [RunStatus, StopState, DisplayStatus, boolean][] = [
  ["running", "none", "running", false],
  ["running", "requested", "stopping", true],
  ["running", "acknowledged", "stopping", true],
  ["running", "completed", "running", false],
  ["running", "terminal_without_completion", "running", false],
  ["finished", "none", "finished", false],
  ["finished", "requested", "finished", false],
  ["finished", "acknowledged", "finished", false],
  ["finished", "completed", "stopped", false],
  ["finished", "terminal_without_completion", "finished", false],
  ["failed", "none", "failed", false],
  ["failed", "requested", "failed", false],
  ["failed", "acknowledged", "failed", false],
  ["failed", "completed", "stopped", false],
  ["failed", "terminal_without_completion", "failed", false],
];

describe("the state that a reader sees", () => {
  test.each(rows)("a %s run with stop state %s shows %s", (status, stop, shown, pending) => {
    expect(displayStatus(status, stop)).toBe(shown);
    expect(isStopPending(status, stop)).toBe(pending);
  });

  test.each<[StopState, boolean]>([
    ["none", false],
    ["requested", true],
    ["acknowledged", true],
    ["completed", true],
    ["terminal_without_completion", false],
  ])("stop state %s counts as requested in run_control: %s", (stop, expected) => {
    expect(isStopRequested(stop)).toBe(expected);
  });
});

describe("the lifecycle list", () => {
  test("takes an entry at its end and leaves the given list alone", () => {
    const before = ["a"];
    expect(appendLifecycle(before, "b")).toEqual(["a", "b"]);
    expect(before).toEqual(["a"]);
  });

  test("keeps the newest twenty entries", () => {
    expect(LIFECYCLE_ENTRIES_MAX).toBe(20);
    const full = Array.from({ length: 20 }, (_, i) => i);
    expect(appendLifecycle(full, 20)).toEqual(Array.from({ length: 20 }, (_, i) => i + 1));
  });
});
