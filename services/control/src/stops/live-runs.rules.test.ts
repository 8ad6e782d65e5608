import { describe, expect, test } from "@jest/globals";
import { createLiveRuns, floorOf, knownRun, wasRestored, type RunControlRow } from "./live-runs.rules.ts";
import { pollAfterSeconds } from "./stop-signal.ts";

const row = (id: string, change: Partial<RunControlRow> = {}): RunControlRow => ({
  id,
  org_id: "org",
  project_id: "project",
  status: "running",
  stop_state: "none",
  stop_request_id: null,
  stop_requested_at: null,
  stop_acknowledged_at: null,
  ...change,
});
const asked = {
  stop_state: "requested",
  stop_request_id: "r1",
  stop_requested_at: "2026-01-02T03:04:05.000006Z",
} as const;

describe("the known state of a run", () => {
  const owner = { orgId: "org", projectId: "project" };
  test.each([
    ["a running run without a stop request has nothing pending", {}, false],
    ["a running run that was asked has its request pending", asked, true],
    ["so has one that acknowledged it", { ...asked, stop_state: "acknowledged" }, true],
    [
      "a completed stop is not pending anymore, also when the run runs again",
      { ...asked, stop_state: "completed" },
      false,
    ],
    [
      "nor is one that the run did not carry out before it ended",
      { ...asked, stop_state: "terminal_without_completion" },
      false,
    ],
    ["an ended run has nothing pending", { ...asked, status: "failed" }, false],
  ] as [string, Partial<RunControlRow>, boolean][])("%s", (_what, change, pending) => {
    const run = knownRun(row("a", change), owner);
    expect(run?.pending).toEqual(
      pending ? { requestId: "r1", requestedAt: asked.stop_requested_at, acknowledgedAt: null } : undefined,
    );
  });

  test("an acknowledgement's time is known", () => {
    const at = "2026-01-02T03:04:06Z";
    const run = knownRun(row("a", { ...asked, stop_state: "acknowledged", stop_acknowledged_at: at }), owner);
    expect(run?.pending?.acknowledgedAt).toBe(at);
  });
});

describe("the memory of runs", () => {
  test("holds running runs, and runs of one project share their owner", () => {
    const live = createLiveRuns();
    live.put([row("a"), row("b", asked), row("c", { project_id: "other" })]);
    expect(live.count()).toEqual({ running: 3, ended: 0 });
    expect(live.find("b")).toMatchObject({ status: "running", pending: { requestId: "r1" } });
    expect(live.find("a")?.owner).toBe(live.find("b")?.owner);
    expect(live.find("c")?.owner).toEqual({ orgId: "org", projectId: "other" });
    expect(live.find("d")).toBeUndefined();
  });

  test("keeps a run that ended, or that was asked about, and no other ended ones", () => {
    const live = createLiveRuns();
    live.put([row("a")]);
    live.put([row("a", { status: "finished" }), row("b", { status: "failed" })]);
    live.putAsked(row("c", { status: "failed" }));
    expect([live.find("a")?.status, live.find("b"), live.find("c")?.status]).toEqual(["finished", undefined, "failed"]);
    expect(live.count()).toEqual({ running: 0, ended: 2 });
    live.put([row("c", { status: "finished" })]);
    expect(live.find("c")?.status).toBe("finished");
  });

  test("a run that runs again counts as running", () => {
    const live = createLiveRuns();
    live.putAsked(row("a", { status: "failed" }));
    live.put([row("a")]);
    expect(live.count()).toEqual({ running: 1, ended: 0 });
    expect(live.find("a")?.status).toBe("running");
  });

  test("forgets ended runs that were not asked about for longest, and running ones never", () => {
    const live = createLiveRuns(2);
    for (const id of ["a", "b"]) live.putAsked(row(id, { status: "failed" }));
    live.find("a");
    live.putAsked(row("c", { status: "failed" }));
    expect([live.find("a")?.status, live.find("b"), live.find("c")?.status]).toEqual(["failed", undefined, "failed"]);
    live.put(["d", "e", "f"].map((id) => row(id)));
    expect(live.count()).toEqual({ running: 3, ended: 2 });
  });

  test("a snapshot replaces what is known when it is whole, with what came in the meantime", () => {
    const live = createLiveRuns();
    live.put([row("old"), row("both")]);
    live.putAsked(row("ended", { status: "failed" }));
    live.beginSnapshot();
    live.put([row("both"), row("new")]);
    expect(live.find("old")).toBeDefined();
    live.put([row("new", { status: "finished" })]);
    live.endSnapshot();
    expect(["old", "both", "new", "ended"].map((id) => live.find(id)?.status)).toEqual([
      undefined,
      "running",
      undefined,
      undefined,
    ]);
    live.endSnapshot();
    expect(live.find("both")).toBeDefined();
  });
});

test.each([
  ["premium", 10],
  ["pro", 15],
  ["free", 30],
  ["", 30],
  ["unheard of", 30],
])("on plan %s a process asks every %d seconds", (plan, seconds) => {
  expect(pollAfterSeconds(plan)).toBe(seconds);
});

describe("a snapshot of the server", () => {
  test("continues from its oldest open transaction", () => {
    expect(floorOf("18446744073709551610:18446744073709551615:18446744073709551611")).toBe(18446744073709551610n);
    expect(floorOf("7:7:")).toBe(7n);
  });

  test.each([
    ["7:9:8", "8:9:", false],
    ["7:9:8", "10:12:", false],
    ["7:9:8", "5:8:", true],
  ])("%s, then %s: restored: %s", (before, now, lost) => {
    expect(wasRestored(before, now)).toBe(lost);
  });
});
