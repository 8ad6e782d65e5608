import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { putAggregate } from "../metrics/ingested.fixture.ts";
import { asOwner, callAs, failure, json, makeRun, startRuns, text, type RunsFixture } from "../runs.fixture.ts";
import { forksOf, type ForkRequest } from "./forks.fixture.ts";

let fixture: RunsFixture;
beforeAll(async () => {
  fixture = await startRuns();
});
afterAll(() => fixture.close());

const { fork, childrenOf } = forksOf(() => fixture);

describe("a fork", () => {
  test("is a new running child in the project of its parent, which stays as it is", async () => {
    const call = callAs();
    const parent = await makeRun(fixture.client, call, {
      project: "vision",
      name: "base",
      tags: ["a"],
      configJson: json('{"lr":0.10,"seed":12345678901234567890}'),
      metadataJson: json('{"gpu":"a100","notes":"parent"}'),
    });
    await putAggregate(fixture, call.orgId, parent.id, "loss", { latest: 1 });
    await fixture.client.updateRun({ runId: parent.id, status: "finished" }, call);
    const { run: before } = await fixture.client.getRun({ runId: parent.id, metricLimit: 10 }, call);

    const { run, summary, message, replayed } = await fork(call, {
      runId: parent.id,
      step: 120,
      configOverridesJson: json('{"lr":1.0}'),
      tags: ["b"],
      notes: "try again",
      metadataJson: json('{"who":"me"}'),
    });
    expect(replayed).toBe(false);
    expect(message).toContain("base at step 120");
    expect(run).toMatchObject({
      project: "vision",
      projectId: parent.projectId,
      name: "fork-of-base-step-120",
      status: "running",
      tags: ["a", "b", "forked"],
      notes: "try again",
      parentRunId: parent.id,
      forkedFromStep: 120,
      resumeCount: 0,
      lifecycle: [],
    });
    expect(run.forkedFromArtifactId).toBeUndefined();
    expect(run.finishedAt).toBeUndefined();
    expect(text(run.configJson)).toBe('{"lr":1.0,"seed":12345678901234567890}');
    expect(run.createdAt).toBe(run.startedAt);
    expect(run.createdAt > parent.createdAt).toBe(true);
    expect(JSON.parse(text(run.metadataJson))).toEqual({
      who: "me",
      notes: "try again",
      lineage: {
        kind: "fork",
        source_run_id: parent.id,
        source_project: "vision",
        source_run_name: "base",
        source_step: 120,
        checkpoint_artifact_id: null,
        checkpoint_name: null,
        checkpoint_step: null,
        inherit_config: true,
        created_at: run.createdAt,
      },
    });
    expect(summary?.metrics).toMatchObject({ keys: [], keysTotal: 0n });
    expect(summary?.runControl).toMatchObject({ stopState: "none", displayStatus: "running", stopRequested: false });

    const read = async (runId: string) => (await fixture.client.getRun({ runId, metricLimit: 10 }, call)).run;
    expect(await read(parent.id)).toEqual(before);
    expect(await read(run.id)).toEqual(summary);
    const [counters] = await asOwner(
      fixture,
      "SELECT runs_running, runs_finished FROM runs.projects WHERE org_id = $1",
      [call.orgId],
    );
    expect(counters).toEqual({ runs_running: 1, runs_finished: 1 });
  });

  test("can be forked itself, and an endless line of forks has names that fit", async () => {
    const call = callAs();
    let { id } = await makeRun(fixture.client, call, { name: "é".repeat(256) });
    let name = "";
    for (let i = 0; i < 100; i += 1) ({ id, name } = (await fork(call, { runId: id, step: 12.5 })).run);
    expect(Buffer.byteLength(name)).toBeGreaterThan(1000);
    expect(name).toMatch(/^fork-of-fork-of-.*-step-12\.5$/);
  });

  test("without a key is a new one each time", async () => {
    const call = callAs();
    const parent = await makeRun(fixture.client, call);
    const ids = [await fork(call, { runId: parent.id }), await fork(call, { runId: parent.id })].map(
      ({ run }) => run.id,
    );
    expect(new Set(ids).size).toBe(2);
    expect(await childrenOf(parent.id)).toBe(2);
  });

  test("by a key of the parent's project stays in that project", async () => {
    const wide = callAs();
    const parent = await makeRun(fixture.client, wide, { project: "mine" });
    const { run } = await fork(callAs({ orgId: wide.orgId, projectId: parent.projectId }), { runId: parent.id });
    expect(run).toMatchObject({ project: "mine", parentRunId: parent.id });
  });
});

describe("a request that is refused", () => {
  test.each<[string, Omit<ForkRequest, "runId">, string, string | undefined]>([
    ["a negative step", { step: -0.5 }, "bad_request", "step"],
    ["a step that is not a number", { step: Number.NaN }, "bad_request", "step"],
    ["overrides that are not an object", { configOverridesJson: json("[1]") }, "bad_request", "config_overrides"],
    ["metadata that is not an object", { metadataJson: json("1") }, "bad_request", "metadata"],
    ["an artifact, of which there are none", { checkpointArtifactId: randomUUID() }, "not_found", undefined],
  ])("%s: makes nothing and keeps no key, and a missing run takes precedence", async (_, request, reason, field) => {
    const call = callAs();
    const parent = await makeRun(fixture.client, call);
    const keyed = { ...request, idempotencyKey: "k" };
    expect(await failure(fork(call, { runId: parent.id, ...keyed }))).toMatchObject({ reason, field });
    for (const runId of [randomUUID(), "not-a-uuid", ""]) {
      expect(await failure(fork(call, { runId, ...keyed }))).toMatchObject({
        reason: "not_found",
        message: "run not found",
      });
    }
    expect(await childrenOf(parent.id)).toBe(0);
    expect((await fork(call, { runId: parent.id, idempotencyKey: "k" })).replayed).toBe(false);
  });

  test("a body fault takes precedence over a missing artifact", async () => {
    const call = callAs();
    const { id: runId } = await makeRun(fixture.client, call);
    const both = { runId, checkpointArtifactId: randomUUID(), metadataJson: json('{"forked_from_step":1}') };
    expect(await failure(fork(call, both))).toMatchObject({ reason: "bad_request" });
  });
});

describe("who may not see the parent", () => {
  const world = async () => {
    const wide = callAs();
    const parent = await makeRun(fixture.client, wide, { project: "theirs" });
    const own = await makeRun(fixture.client, wide, { project: "mine" });
    return { wide, parent, scoped: callAs({ orgId: wide.orgId, projectId: own.projectId }), stranger: callAs() };
  };

  test.each(["stranger", "scoped"] as const)("makes no fork of it and sees no stored answer: %s", async (who) => {
    const { wide, parent, [who]: outsider } = await world();
    const request = { runId: parent.id, idempotencyKey: "k" };
    await fork(wide, request);
    for (const asked of [request, { runId: parent.id }, { ...request, bodyFault: { text: "no", field: "name" } }]) {
      expect(await failure(fork(outsider, asked))).toMatchObject({ reason: "not_found", message: "run not found" });
    }
    expect(await childrenOf(parent.id)).toBe(1);
  });
});

describe("account and plan", () => {
  test("stop new forks while a payment is due, but no repeat", async () => {
    const paid = callAs();
    const unpaid = callAs({ orgId: paid.orgId, billingState: "read_only_payment_required" });
    const parent = await makeRun(fixture.client, paid);
    const { run } = await fork(paid, { runId: parent.id, idempotencyKey: "k" });
    expect(await failure(fork(unpaid, { runId: parent.id }))).toMatchObject({ reason: "payment_required" });
    const refused = fork(unpaid, { runId: parent.id, idempotencyKey: "l" });
    expect(await failure(refused)).toMatchObject({ reason: "payment_required" });
    expect((await fork(unpaid, { runId: parent.id, idempotencyKey: "k" })).run.id).toBe(run.id);
    expect((await fork(paid, { runId: parent.id, idempotencyKey: "l" })).replayed).toBe(false);
    expect(await childrenOf(parent.id)).toBe(2);
  });

  test("count forks as runs", async () => {
    const call = callAs();
    const parent = await makeRun(fixture.limited, call);
    await asOwner(fixture, "UPDATE runs.projects SET runs_finished = 98 WHERE org_id = $1", [call.orgId]);
    await fork(call, { runId: parent.id, idempotencyKey: "k" }, fixture.limited);
    const beyond = fork(call, { runId: parent.id }, fixture.limited);
    expect(await failure(beyond)).toMatchObject({ reason: "plan_limit_exceeded" });
    expect((await fork(call, { runId: parent.id, idempotencyKey: "k" }, fixture.limited)).replayed).toBe(true);
    expect(await childrenOf(parent.id)).toBe(1);
  });
});
