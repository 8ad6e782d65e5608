import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { hostedPlans } from "@tidemark/limits";
import { asOwner, callAs, failure, makeRun, startRuns, type RunsFixture } from "../runs.fixture.ts";
import { isNearPlan } from "./plan-limits.rules.ts";

let fixture: RunsFixture;
beforeAll(async () => {
  fixture = await startRuns();
});
afterAll(() => fixture.close());

/** Makes the organization's counters show this many more finished runs. */
const pretendRuns = (orgId: string, runs: number) =>
  asOwner(
    fixture,
    `UPDATE runs.projects SET runs_finished = runs_finished + $2
     WHERE org_id = $1 AND id = (SELECT id FROM runs.projects WHERE org_id = $1 ORDER BY name LIMIT 1)`,
    [orgId, runs],
  );

describe.each(["canceled"])("in billing state %s", (billingState) => {
  const paidThenNot = () => {
    const paid = callAs();
    return { paid, unpaid: callAs({ orgId: paid.orgId, billingState }) };
  };

  test("new runs and projects are 402 payment_required and leave nothing behind", async () => {
    const { paid, unpaid } = paidThenNot();
    for (const refused of [
      () => fixture.client.createRun({}, unpaid),
      () => fixture.client.createRun({ id: randomUUID(), mode: "auto" }, unpaid),
      () => fixture.client.createProject({ name: "p" }, unpaid),
    ]) {
      expect(await failure(refused())).toMatchObject({ reason: "payment_required" });
    }
    expect((await fixture.client.listProjects({ limit: 10 }, paid)).total).toBe(0n);
  });

  test("existing ones can be attached, resumed, replayed and read, not changed", async () => {
    const { paid, unpaid } = paidThenNot();
    const id = randomUUID();
    await fixture.client.createRun({ id, project: "p" }, paid);
    expect((await fixture.client.createRun({ id, project: "p" }, unpaid)).created).toBe(false);
    expect((await fixture.client.createRun({ id, mode: "auto" }, unpaid)).created).toBe(false);
    const change = { runId: id, status: "finished" };
    expect(await failure(fixture.client.updateRun(change, unpaid))).toMatchObject({ reason: "payment_required" });
    await fixture.client.updateRun(change, paid);
    expect((await fixture.client.createRun({ id, mode: "resume" }, unpaid)).run?.status).toBe("running");
    expect((await fixture.client.createProject({ name: "p" }, unpaid)).project?.name).toBe("p");
  });
});

describe("plan limits", () => {
  test.each([
    ["free", 100],
    ["pro", 100_000],
    ["premium", 1_000_000],
    ["", 100],
  ])("plan %j allows %d runs", async (planTier, runs) => {
    const call = callAs({ planTier });
    await makeRun(fixture.limited, call, { project: "p" });
    await pretendRuns(call.orgId, runs - 2);
    await makeRun(fixture.limited, call, { project: "p" });
    expect(await failure(fixture.limited.createRun({ project: "p" }, call))).toMatchObject({
      reason: "plan_limit_exceeded",
      message: `the organization's plan allows ${runs} runs`,
    });
  });

  test.each([
    ["free", 2],
    ["pro", 100],
    ["premium", 500],
  ])("plan %s allows %d projects", async (planTier, projects) => {
    const call = callAs({ planTier });
    await asOwner(
      fixture,
      "INSERT INTO runs.projects (org_id, id, name) SELECT $1, gen_random_uuid(), 'p' || n FROM generate_series(2, $2) n",
      [call.orgId, projects],
    );
    await fixture.limited.createProject({ name: "last" }, call);
    const beyond = { reason: "plan_limit_exceeded", message: `the organization's plan allows ${projects} projects` };
    expect(await failure(fixture.limited.createProject({ name: "more" }, call))).toMatchObject(beyond);
    expect(await failure(fixture.limited.createRun({ project: "more" }, call))).toMatchObject(beyond);
    expect((await fixture.limited.createProject({ name: "last" }, call)).project?.name).toBe("last");
    expect((await fixture.limited.createRun({ project: "last" }, call)).created).toBe(true);
  });

  test("at the limit a replay still answers", async () => {
    const call = callAs();
    const id = randomUUID();
    await makeRun(fixture.limited, call, { id });
    await pretendRuns(call.orgId, 1000);
    expect((await fixture.limited.createRun({ id }, call)).created).toBe(false);
  });

  test("20 simultaneous creates with 5 runs left make exactly 5", async () => {
    const call = callAs();
    await makeRun(fixture.limited, call, { project: "a" });
    await makeRun(fixture.limited, call, { project: "b" });
    await pretendRuns(call.orgId, 93);
    const results = await Promise.allSettled(
      Array.from({ length: 20 }, (_, i) => fixture.limited.createRun({ project: i % 2 === 0 ? "a" : "b" }, call)),
    );
    const refused = results.flatMap((r) => (r.status === "rejected" ? [(r.reason as { reason: string }).reason] : []));
    expect(refused).toEqual(Array<string>(15).fill("plan_limit_exceeded"));
  });

  test("20 simultaneous creates into the last project that the plan allows all succeed", async () => {
    const call = callAs();
    await makeRun(fixture.limited, call, { project: "first" });
    const runs = await Promise.all(
      Array.from({ length: 20 }, () => fixture.limited.createRun({ project: "second" }, call)),
    );
    expect(new Set(runs.map(({ run }) => run?.projectId)).size).toBe(1);
  });

  test("switched off, there are none", async () => {
    const call = callAs();
    await makeRun(fixture.client, call, { project: "p" });
    await pretendRuns(call.orgId, 1_000_000);
    for (const project of ["p", "q", "r", "s"]) {
      expect((await fixture.client.createRun({ project }, call)).created).toBe(true);
    }
  });
});

describe("creates near a plan limit", () => {
  test.each([
    ["a run far from the limit", { projects: 100, runs: 0 }, { project: false, runs: 1 }, false],
    ["a run close to the limit", { projects: 0, runs: 99_900 }, { project: false, runs: 1 }, true],
    ["a project of a plan with few", { projects: 0, runs: 0 }, { project: true, runs: 0 }, true],
    ["nothing new", { projects: 100, runs: 100_000 }, { project: false, runs: 0 }, false],
  ])("queue to be counted: %s on pro, %j and %j: %j", (_what, usage, wanted, near) => {
    expect(isNearPlan(usage, hostedPlans.pro, wanted)).toBe(near);
  });
});
