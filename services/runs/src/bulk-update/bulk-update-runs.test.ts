import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { createCall } from "@tidemark/rpc";
import { asOwner, callAs, failure, json, makeRun, startRuns, text, type RunsFixture } from "../runs.fixture.ts";

let fixture: RunsFixture;
beforeAll(async () => {
  fixture = await startRuns();
});
afterAll(() => fixture.close());

type Call = ReturnType<typeof callAs>;
type Request = Parameters<RunsFixture["client"]["bulkUpdateRuns"]>[0];

const bulk = (request: Request, call: Call) => fixture.client.bulkUpdateRuns(request, call);
const rowOf = async (runId: string, call: Call) =>
  (await fixture.client.getRun({ runId, metricLimit: 1 }, call)).run!.run!;
const everyRun = { filter: {}, order: { sortBy: "created" } };

async function makeRuns(call: Call, count: number, request: Parameters<typeof makeRun>[2] = {}): Promise<string[]> {
  const ids: string[] = [];
  for (let i = 0; i < count; i++) ids.push((await makeRun(fixture.client, call, request)).id);
  return ids;
}

test("status, tags and notes change in all runs of a filter, as PATCH changes them", async () => {
  const call = callAs();
  const [first, second] = await makeRuns(call, 2, { project: "p", metadataJson: json('{"z":1.50,"notes":"old"}') });
  const other = await makeRun(fixture.client, call, { project: "q" });
  const answer = await bulk(
    { filter: { project: "p" }, order: { sortBy: "created" }, status: "failed", tags: { tags: ["t"] }, notes: "n" },
    call,
  );
  expect(answer).toMatchObject({ matched: 2, updated: 2, failed: 0, replayed: false });
  expect(answer.results).toMatchObject([{ runIds: [second, first], ok: true, error: "" }]);
  for (const id of [first!, second!]) {
    const row = await rowOf(id, call);
    expect(row).toMatchObject({ status: "failed", tags: ["t"], notes: "n", finishedAt: expect.any(String) });
    expect(text(row.metadataJson)).toBe('{"notes":"n","z":1.50}');
  }
  expect(await rowOf(other.id, call)).toEqual(other);
  const counters = await asOwner(
    fixture,
    "SELECT runs_running, runs_failed FROM runs.projects WHERE org_id = $1 ORDER BY name",
    [call.orgId],
  );
  expect(counters).toEqual([
    { runs_running: 0, runs_failed: 2 },
    { runs_running: 1, runs_failed: 0 },
  ]);
  expect((await bulk({ ...everyRun, notes: "" }, call)).updated).toBe(3);
  expect((await rowOf(first!, call)).notes).toBeUndefined();
});

test("a running run with a pending stop that is ended is not stopped, and one that runs again was seen now", async () => {
  const call = callAs();
  const [id] = await makeRuns(call, 1);
  await asOwner(
    fixture,
    `UPDATE runs.runs SET created_at = '2020-01-01', stop_state = 'requested', stop_request_id = gen_random_uuid(), stop_requested_at = now()
     WHERE id = $1`,
    [id],
  );
  await bulk({ runIds: [id!], status: "finished" }, call);
  const ended = (await fixture.client.getRun({ runId: id!, metricLimit: 1 }, call)).run!;
  expect(ended.runControl).toMatchObject({ stopState: "terminal_without_completion", displayStatus: "finished" });
  await bulk({ runIds: [id!], status: "running" }, call);
  expect(await rowOf(id!, call)).toMatchObject({ status: "running", stale: false });
});

describe("of each hundred", () => {
  test("all or none change; repeated ids count once", async () => {
    const call = callAs();
    const ids = await makeRuns(call, 201);
    const missing = randomUUID();
    const asked = [...ids.slice(0, 100), ...ids.slice(0, 3), ...ids.slice(100, 150), missing, ...ids.slice(150)];
    const answer = await bulk({ runIds: asked, tags: { tags: ["t"] } }, call);
    expect(answer).toMatchObject({ matched: 202, updated: 102, failed: 100 });
    expect(answer.results.map(({ runIds, ok, error }) => [runIds.length, ok, error])).toEqual([
      [100, true, ""],
      [100, false, "not_found_or_unauthorized"],
      [2, true, ""],
    ]);
    const tagged = await asOwner<{ id: string }>(
      fixture,
      "SELECT id FROM runs.runs WHERE tags = '{t}' AND org_id = $1",
      [call.orgId],
    );
    const expected = answer.results.flatMap(({ runIds, ok }) => (ok ? runIds : []));
    expect(tagged.map(({ id }) => id).toSorted()).toEqual(expected.toSorted());
  });

  test("a run of another project or organization fails it", async () => {
    const call = callAs();
    const [mine] = await makeRuns(call, 1, { project: "a" });
    const { id: theirs, projectId } = await makeRun(fixture.client, call, { project: "b" });
    for (const stranger of [callAs(), callAs({ orgId: call.orgId, projectId })]) {
      const { results } = await bulk({ runIds: [mine!, theirs], status: "failed" }, stranger);
      expect(results).toMatchObject([{ ok: false, error: "not_found_or_unauthorized" }]);
    }
    expect((await rowOf(theirs, call)).status).toBe("running");
    const scoped = callAs({ orgId: call.orgId, projectId });
    expect((await bulk({ ...everyRun, status: "failed" }, scoped)).results).toMatchObject([{ runIds: [theirs] }]);
    expect((await rowOf(mine!, call)).status).toBe("running");
  });
});

test("a dry run returns what would change, and changes nothing", async () => {
  const call = callAs();
  const [id] = await makeRuns(call, 1);
  const before = await rowOf(id!, call);
  const runIds = [id!, ...Array.from({ length: 100 }, () => randomUUID())];
  const answer = await bulk({ runIds, status: "failed", dryRun: true, idempotencyKey: "k" }, call);
  expect(answer).toMatchObject({ matched: 101, updated: 0, failed: 101, replayed: false });
  expect(await bulk({ ...everyRun, status: "failed", dryRun: true }, call)).toMatchObject({
    matched: 1,
    updated: 0,
    failed: 0,
    results: [{ runIds: [id], ok: true }],
  });
  expect(await rowOf(id!, call)).toEqual(before);
});

test("nothing that is found is an answer without results", async () => {
  const none = { matched: 0, updated: 0, failed: 0, results: [], replayed: false };
  const call = callAs();
  expect(await bulk({ filter: { project: "none" }, order: { sortBy: "created" }, notes: "n" }, call)).toMatchObject(
    none,
  );
});

test("limit and offset cut the list of the filter", async () => {
  const call = callAs();
  const [, second] = await makeRuns(call, 3);
  const answer = await bulk({ ...everyRun, limit: 1, offset: 1n, notes: "n" }, call);
  expect(answer.results).toMatchObject([{ runIds: [second] }]);
});

describe("with a key", () => {
  test("the runs stay those that were found first, and none changes twice", async () => {
    const call = callAs();
    const [id] = await makeRuns(call, 1);
    const running = { filter: { status: "running" }, order: { sortBy: "created" } };
    const request = { ...running, status: "finished", idempotencyKey: "k" };
    expect(await bulk(request, call)).toMatchObject({ updated: 1, replayed: false });
    await fixture.client.updateRun({ runId: id!, status: "running" }, call);
    expect(await bulk(request, call)).toMatchObject({ updated: 1, replayed: true, results: [{ runIds: [id] }] });
    expect((await rowOf(id!, call)).status).toBe("running");
    expect(await failure(bulk({ ...request, status: "failed" }, call))).toMatchObject({
      reason: "idempotency_key_reused",
    });
    await asOwner(fixture, "UPDATE runs.runs SET hidden = true WHERE id = $1", [id]);
    expect(await bulk(request, call)).toMatchObject({ updated: 0, failed: 1, replayed: true });
  });

  test("a request whose time is up is gone on with", async () => {
    const call = callAs();
    await makeRuns(call, 101);
    const request = { ...everyRun, tags: { tags: ["t"] }, idempotencyKey: "k" };
    const hurried = { ...createCall({ ...call, timeoutMs: 1000 }), orgId: call.orgId };
    expect(await bulk(request, hurried)).toMatchObject({
      matched: 101,
      updated: 0,
      failed: 101,
      replayed: false,
      results: [{ error: "not_reached" }, { error: "not_reached" }],
    });
    expect(await bulk(request, call)).toMatchObject({ updated: 101, failed: 0, replayed: false });
    expect(await bulk(request, call)).toMatchObject({ updated: 101, failed: 0, replayed: true });
  });

  test("20 simultaneous ones change everything once and return the same answer", async () => {
    const call = callAs();
    await makeRuns(call, 3);
    const request = { ...everyRun, notes: "n", idempotencyKey: "k" };
    const answers = await Promise.all(Array.from({ length: 20 }, () => bulk(request, call)));
    expect(answers.filter(({ replayed }) => !replayed)).toHaveLength(1);
    expect(new Set(answers.map(({ results }) => results[0]!.runIds.join()))).toHaveProperty("size", 1);
  });
});

test("two that overlap in other orders and projects both succeed", async () => {
  const call = callAs();
  const ids = [...(await makeRuns(call, 30, { project: "a" })), ...(await makeRuns(call, 30, { project: "b" }))];
  const rounds = Array.from({ length: 8 }, (_, i) =>
    bulk({ runIds: i % 2 === 0 ? ids : ids.toReversed(), status: i % 2 === 0 ? "failed" : "running" }, call),
  );
  for (const { updated } of await Promise.all(rounds)) expect(updated).toBe(60);
});

describe("a refused request changes nothing", () => {
  const id = randomUUID();
  test.each<[string, Request, string]>([
    ["nothing to set", { runIds: [id] }, "set"],
    ["an unknown status", { runIds: [id], status: "paused" }, "status"],
    ["10,001 ids", { runIds: Array.from({ length: 10_001 }, () => id), notes: "n" }, "run_ids"],
    ["an id that is none", { runIds: ["x"], notes: "n" }, "run_ids"],
    ["a limit of 1,001", { ...everyRun, limit: 1001, notes: "n" }, "limit"],
    ["an unknown order", { filter: {}, order: { sortBy: "x" }, notes: "n" }, "sort_by"],
  ])("%s is 400", async (_what, request, field) => {
    expect(await failure(bulk(request, callAs()))).toMatchObject({ reason: "bad_request", field });
  });

  test("a filter that finds 10,001 runs", async () => {
    const call = callAs();
    const { id: runId } = await makeRun(fixture.client, call);
    await asOwner(
      fixture,
      `INSERT INTO runs.runs (org_id, id, project_id, name, status, config, tags, metadata, created_at, started_at)
       SELECT org_id, gen_random_uuid(), project_id, 'copy', 'running', '{}', '{}', '{}', now(), now() FROM runs.runs, generate_series(1, 10000) WHERE id = $1`,
      [runId],
    );
    expect(await failure(bulk({ ...everyRun, notes: "n", dryRun: true }, call))).toMatchObject({
      reason: "bad_request",
      field: "filter",
    });
    const ten = { filter: {}, order: { sortBy: "created" }, limit: 10, notes: "n", dryRun: true };
    expect(await bulk(ten, call)).toMatchObject({ matched: 10 });
  });
});
