import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { asOwner, callAs, makeRun, startRuns, type RunsFixture } from "../runs.fixture.ts";

let fixture: RunsFixture;
beforeAll(async () => {
  fixture = await startRuns();
});
afterAll(() => fixture.close());

type Stop = "none" | "requested" | "acknowledged" | "completed" | "terminal_without_completion";

/** Creates a run in a state that only the stop routes, or a longer history, lead to. */
async function runIn(status: string, stop: Stop, call: ReturnType<typeof callAs>): Promise<string> {
  const { id } = await makeRun(fixture.client, call);
  await fixture.client.updateRun({ runId: id, status }, call);
  if (stop !== "none") {
    await asOwner(
      fixture,
      `UPDATE runs.runs SET stop_state = $2, stop_request_id = gen_random_uuid(), stop_reason = 'because',
              stop_actor = 'user', stop_requested_at = now(), stop_updated_at = now()
       WHERE id = $1`,
      [id, stop],
    );
  }
  return id;
}

const read = async (id: string, call: ReturnType<typeof callAs>) => {
  const { run } = await fixture.client.getRun({ runId: id, metricLimit: 1 }, call);
  if (run?.run === undefined || run.runControl === undefined) throw new Error("no run");
  return { run: run.run, control: run.runControl };
};

const stops: Stop[] = ["none", "requested", "acknowledged", "completed", "terminal_without_completion"];

describe("resume", () => {
  test.each(["finished", "failed"].flatMap((status) => stops.map((stop) => [status, stop] as const)))(
    "a %s run whose stop is %s runs again, with no stop record",
    async (status, stop) => {
      const call = callAs();
      const id = await runIn(status, stop, call);
      const before = await read(id, call);
      const { created, run } = await fixture.client.createRun({ id, mode: "resume" }, call);
      const after = await read(id, call);
      expect(created).toBe(false);
      expect(after.run).toEqual(run);
      expect(after.run).toMatchObject({
        status: "running",
        startedAt: before.run.startedAt,
        createdAt: before.run.createdAt,
        resumeCount: 1,
        lifecycle: [{ statusFrom: status, statusTo: "running", kind: "resume", at: after.run.resumedAt }],
      });
      expect(after.run.finishedAt).toBeUndefined();
      expect(Date.parse(after.run.resumedAt ?? "")).toBeGreaterThanOrEqual(Date.parse(before.run.finishedAt ?? ""));
      expect(after.control).toMatchObject({ stopState: "none", displayStatus: "running", stopRequested: false });
      expect(after.control.stopRequestId).toBeUndefined();
      expect(after.control.actor).toBeUndefined();
      expect(after.control.stopRequestedAt).toBeUndefined();
    },
  );

  test.each(stops)("a running run whose stop is %s is attached as it is", async (stop) => {
    const call = callAs();
    const id = await runIn("running", stop, call);
    const before = await read(id, call);
    await fixture.client.createRun({ id, mode: "resume" }, call);
    expect(await read(id, call)).toEqual(before);
  });

  test("a run set back to running by PATCH keeps its finish time through a resume", async () => {
    const call = callAs();
    const id = await runIn("finished", "none", call);
    await fixture.client.updateRun({ runId: id, status: "running" }, call);
    const before = await read(id, call);
    expect(before.run.finishedAt).toEqual(expect.any(String));
    await fixture.client.createRun({ id, mode: "resume" }, call);
    expect(await read(id, call)).toEqual(before);
  });

  test("22 resumes count 22 and leave the last 20 entries, oldest first", async () => {
    const call = callAs();
    const { id } = await makeRun(fixture.client, call);
    for (let i = 0; i < 22; i += 1) {
      await fixture.client.updateRun({ runId: id, status: i < 2 ? "failed" : "finished" }, call);
      await fixture.client.createRun({ id, mode: "resume" }, call);
    }
    const { run } = await read(id, call);
    expect(run.resumeCount).toBe(22);
    expect(run.lifecycle).toHaveLength(20);
    expect(run.lifecycle.map(({ statusFrom }) => statusFrom)).not.toContain("failed");
    const times = run.lifecycle.map(({ at }) => at);
    expect(times.toSorted()).toEqual(times);
    expect(times.at(-1)).toBe(run.resumedAt);
  });
});

describe("PATCH status", () => {
  const statuses = ["running", "finished", "failed"];

  test.each(statuses.flatMap((from) => statuses.map((to) => [from, to] as const)))(
    "from %s to %s",
    async (from, to) => {
      const call = callAs();
      const id = await runIn(from, "none", call);
      const before = await read(id, call);
      const { run } = await fixture.client.updateRun({ runId: id, status: to }, call);
      const after = await read(id, call);
      expect(run).toEqual(after.run);
      expect(after.run.status).toBe(to);
      expect(after.control.displayStatus).toBe(to);
      expect(after.run.startedAt).toBe(before.run.startedAt);
      expect(after.run.resumeCount).toBe(0);
      expect(after.run.lifecycle).toEqual([]);
      // The first end counts, and a way back to running does not forget it.
      if (from === "running" && to !== "running") {
        expect(Date.parse(after.run.finishedAt ?? "")).toBeGreaterThanOrEqual(Date.parse(before.run.startedAt));
      } else {
        expect(after.run.finishedAt).toBe(before.run.finishedAt);
      }
    },
  );

  test.each([
    ["requested", "stopping"],
    ["acknowledged", "stopping"],
  ] as const)("ending a run whose stop is %s leaves the stop without completion", async (stop, shown) => {
    const call = callAs();
    const id = await runIn("running", stop, call);
    const before = await read(id, call);
    expect(before.control).toMatchObject({ displayStatus: shown, stopRequested: true });
    await fixture.client.updateRun({ runId: id, status: "finished" }, call);
    const after = await read(id, call);
    expect(after.control).toMatchObject({
      stopState: "terminal_without_completion",
      displayStatus: "finished",
      stopRequested: false,
      stopRequestId: before.control.stopRequestId,
      stopRequestedAt: before.control.stopRequestedAt,
    });
  });

  test("a stop that was completed stays stopped through a later PATCH to failed", async () => {
    const call = callAs();
    const id = await runIn("failed", "completed", call);
    await fixture.client.updateRun({ runId: id, status: "failed" }, call);
    expect((await read(id, call)).control).toMatchObject({ stopState: "completed", displayStatus: "stopped" });
    await fixture.client.updateRun({ runId: id, status: "finished" }, call);
    expect((await read(id, call)).control).toMatchObject({ stopState: "completed", displayStatus: "stopped" });
  });

  test("microseconds of a stored time survive a later transition", async () => {
    const call = callAs();
    const id = await runIn("finished", "none", call);
    await asOwner(fixture, "UPDATE runs.runs SET finished_at = '2026-01-02T03:04:05.678901Z' WHERE id = $1", [id]);
    await fixture.client.updateRun({ runId: id, status: "failed" }, call);
    expect((await read(id, call)).run.finishedAt).toBe("2026-01-02T03:04:05.678901Z");
  });
});

test("the project's counters follow every transition", async () => {
  const call = callAs();
  const counters = async () => {
    const rows = await asOwner(
      fixture,
      `SELECT runs_running::integer AS running, runs_finished::integer AS finished, runs_failed::integer AS failed
       FROM runs.projects WHERE org_id = $1`,
      [call.orgId],
    );
    return rows[0];
  };
  const { id } = await makeRun(fixture.client, call);
  await makeRun(fixture.client, call);
  expect(await counters()).toEqual({ running: 2, finished: 0, failed: 0 });
  await fixture.client.updateRun({ runId: id, status: "finished" }, call);
  expect(await counters()).toEqual({ running: 1, finished: 1, failed: 0 });
  await fixture.client.updateRun({ runId: id, status: "failed" }, call);
  expect(await counters()).toEqual({ running: 1, finished: 0, failed: 1 });
  await fixture.client.createRun({ id, mode: "resume" }, call);
  expect(await counters()).toEqual({ running: 2, finished: 0, failed: 0 });
});
