import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { VIEW_PANELS, VIEW_RUNS_MAX } from "@tidemark/limits";
import { storedRun, storeRuns } from "../list/stored-runs.fixture.ts";
import { putAggregate, putValues } from "../metrics/ingested.fixture.ts";
import { asOwner, callAs, failure, makeRun, startRuns, type RunsFixture } from "../runs.fixture.ts";

let fixture: RunsFixture;
beforeAll(async () => {
  fixture = await startRuns();
});
afterAll(() => fixture.close());

const getRuns = (call: ReturnType<typeof callAs>, runIds: string[], metricKeys: string[] = []) =>
  fixture.client.getRuns({ runIds, metricKeys }, call);

test("runs are returned in the order of their ids, each once, as a read of one run shows them", async () => {
  const call = callAs();
  const ids: string[] = [];
  for (const name of ["a", "b", "c"]) ids.unshift((await makeRun(fixture.client, call, { name })).id);
  await putAggregate(fixture, call.orgId, ids[0]!, "loss", { latest: 4, min: 1, max: 9, count: 3, mean: 2, m2: 6 });
  const { runs } = await getRuns(call, [...ids, ids[0]!], ["loss"]);
  expect(runs.map(({ run }) => run?.id)).toEqual(ids);
  const alone = await fixture.client.getRun({ runId: ids[0]!, metricLimit: 10 }, call);
  expect(runs[0]).toEqual({
    ...alone.run,
    runControl: { ...alone.run!.runControl, details: undefined },
  });
});

test("a run has those of the keys that it has, in the order of code points, and nothing of others that begin alike", async () => {
  const call = callAs();
  const { id } = await makeRun(fixture.client, call);
  const { id: other } = await makeRun(fixture.client, call);
  await putValues(fixture, call.orgId, id, { loss: 1, "loss/a": 2, z: 3, "\u{1f600}": 4, "\u{ffee}": 5, acc: 6 });
  await putAggregate(fixture, call.orgId, id, "huge", { latest: 1, m2: "Infinity" });
  const { runs } = await getRuns(call, [id, other], ["\u{1f600}", "\u{ffee}", "loss", "huge", "none", "acc", "los"]);
  expect(runs[0]?.metrics).toMatchObject({
    keys: ["acc", "huge", "loss", "\u{ffee}", "\u{1f600}"],
    latest: [6, 1, 1, 5, 4],
    variance: [0, Number.NaN, 0, 0, 0],
    count: [1, 1, 1, 1, 1],
    keysTotal: 5n,
  });
  expect(runs[1]?.metrics).toMatchObject({ keys: [], latest: [], keysTotal: 0n });
});

test("a run that the caller may not see is not_found, among visible ones too", async () => {
  const call = callAs();
  const mine = await makeRun(fixture.client, call);
  const foreign = await makeRun(fixture.client, callAs());
  const elsewhere = await makeRun(fixture.client, call, { project: "another" });
  const restricted = callAs({ orgId: call.orgId, projectId: mine.projectId });
  expect((await getRuns(restricted, [mine.id])).runs).toHaveLength(1);
  for (const [caller, id] of [
    [call, randomUUID()],
    [call, foreign.id],
    [restricted, elsewhere.id],
  ] as const) {
    expect(await failure(getRuns(caller, [mine.id, id]))).toMatchObject({ reason: "not_found" });
  }
});

test.each<[string, string[], string[], string]>([
  ["no ids", [], [], "run_ids"],
  ["an id that is not a UUID", ["x"], [], "run_ids"],
  ["too many ids", Array.from({ length: VIEW_RUNS_MAX + 1 }, () => randomUUID()), [], "run_ids"],
  ["too many keys", [randomUUID()], Array.from({ length: VIEW_PANELS.max + 1 }, (_, i) => `k${i}`), "metric_keys"],
])("%s is bad_request", async (_what, runIds, metricKeys, field) => {
  expect(await failure(getRuns(callAs(), runIds, metricKeys))).toMatchObject({ reason: "bad_request", field });
});

describe("runs with heavy documents", () => {
  const call = callAs();
  const ids = Array.from({ length: 70 }, () => randomUUID());

  beforeAll(async () => {
    await storeRuns(
      fixture,
      call.orgId,
      ids.map((id) => storedRun({ id })),
    );
    await asOwner(
      fixture,
      `UPDATE runs.runs SET config = '{"a":"' || repeat('x', $2::integer - 10) || '"}' WHERE org_id = $1`,
      [call.orgId, 1_000_000],
    );
  });

  test("are refused when they are more than an answer holds", async () => {
    expect(await failure(getRuns(call, ids))).toMatchObject({
      reason: "bad_request",
      field: "run_ids",
      message: expect.stringContaining("at most 67 "),
    });
  });

  test("are not_found first when one is missing", async () => {
    expect(await failure(getRuns(call, [...ids, randomUUID()]))).toMatchObject({ reason: "not_found" });
  });
});

test("many runs of which one is missing are not_found", async () => {
  const call = callAs();
  const ids = Array.from({ length: 61 }, () => randomUUID());
  await storeRuns(
    fixture,
    call.orgId,
    ids.map((id) => storedRun({ id })),
  );
  expect((await getRuns(call, ids)).runs).toHaveLength(61);
  expect(await failure(getRuns(call, [...ids, randomUUID()]))).toMatchObject({ reason: "not_found" });
});

test("the keys with the most points in all runs are chosen, without those of the system, and are returned with the runs", async () => {
  const call = callAs();
  const ids: string[] = [];
  for (const name of ["a", "b"]) ids.push((await makeRun(fixture.client, call, { name })).id);
  const put = (run: string, key: string, count: number) =>
    putAggregate(fixture, call.orgId, run, key, { latest: 1, count });
  for (const [key, first, second] of [
    ["b", 2, 2],
    ["a", 4, 0],
    ["most", 1, 9],
    ["few", 1, 1],
    ["system/instantml/cpu", 99, 99],
  ] as const) {
    await put(ids[0]!, key, first);
    if (second > 0) await put(ids[1]!, key, second);
  }
  const { runs, rankedKeys } = await fixture.client.getRuns({ runIds: ids, rankedKeysMax: 3 }, call);
  expect(rankedKeys).toEqual(["most", "a", "b"]);
  expect(runs.map(({ metrics }) => metrics?.keys)).toEqual([
    ["a", "b", "most"],
    ["b", "most"],
  ]);
  expect((await fixture.client.getRuns({ runIds: [ids[0]!], metricKeys: ["few"] }, call)).rankedKeys).toEqual([]);
  expect(await failure(fixture.client.getRuns({ runIds: ids, rankedKeysMax: 51 }, call))).toMatchObject({
    reason: "bad_request",
    field: "ranked_keys_max",
  });
});
