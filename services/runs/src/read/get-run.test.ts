import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { insertAggregates, putAggregate } from "../metrics/ingested.fixture.ts";
import { asOwner, callAs, failure, makeRun, startRuns, type RunsFixture } from "../runs.fixture.ts";

let fixture: RunsFixture;
beforeAll(async () => {
  fixture = await startRuns();
});
afterAll(() => fixture.close());

test("a run without metrics has empty columns and no cursor", async () => {
  const call = callAs();
  const run = await makeRun(fixture.client, call);
  const answer = await fixture.client.getRun({ runId: run.id, metricLimit: 1000 }, call);
  expect(answer.run?.run).toEqual(run);
  expect(answer.run?.metrics).toMatchObject({ keys: [], latest: [], keysTotal: 0n, nextCursor: "" });
  expect(answer.run?.runControl).toMatchObject({ stopState: "none", displayStatus: "running", stopRequested: false });
});

test("aggregates are returned as they are stored, a variance beyond doubles as NaN", async () => {
  const call = callAs();
  const { id } = await makeRun(fixture.client, call);
  await putAggregate(fixture, call.orgId, id, "loss", {
    latest: 0.4,
    min: 0.3,
    max: 1,
    count: 12,
    mean: 0.6,
    m2: 0.24,
  });
  await putAggregate(fixture, call.orgId, id, "huge", {
    latest: 1e308,
    min: -1e308,
    max: 1e308,
    count: 2,
    mean: 0,
    m2: "Infinity",
  });
  const { run } = await fixture.client.getRun({ runId: id, metricLimit: 1000 }, call);
  expect(run?.metrics).toMatchObject({
    keys: ["huge", "loss"],
    latest: [1e308, 0.4],
    min: [-1e308, 0.3],
    max: [1e308, 1],
    mean: [0, 0.6],
    variance: [Number.NaN, 0.02],
    count: [2, 12],
    best: [1e308, 0.3],
    bestStep: [2, 1],
    keysTotal: 2n,
  });
});

describe("a run with hundreds of keys", () => {
  // Every 37th of 1,000 keys after the other: neighbors in the list are stored far from each other.
  test.each([
    ["that were logged in their order", (n: number) => n],
    ["that were logged in another order", (n: number) => (n * 37) % 1000],
  ])("%s shows the aggregates of each", async (_, nameOf) => {
    const call = callAs();
    const { id } = await makeRun(fixture.client, call);
    for (let first = 0; first < 1000; first += 100) {
      const names = Array.from(
        { length: 100 },
        (_unused, i) => `${i % 2 === 0 ? "loss" : "gain"}/${nameOf(first + i) + 1000}`,
      );
      await asOwner(
        fixture,
        insertAggregates(`SELECT $1::uuid, $2::uuid, k.key, k.key LIKE 'loss%', 4, v.v, 2, v.v - 1, 5, v.v + 1, 6, v.v + 0.5, 7, 0
                     FROM unnest($3::text[]) k (key), LATERAL (SELECT substr(k.key, 6)::float8 AS v) v`),
        [call.orgId, id, names],
      );
    }
    const read = async (request: { metricPrefix?: string; metricLimit: number; metricCursor?: string }) =>
      (await fixture.client.getRun({ runId: id, ...request }, call)).run!.metrics!;
    const expectAggregates = (metrics: Awaited<ReturnType<typeof read>>): void => {
      metrics.keys.forEach((key, i) => {
        const [kind, value] = [key.slice(0, 4), Number(key.slice(5))];
        expect([
          metrics.mean[i],
          metrics.min[i],
          metrics.max[i],
          metrics.latest[i],
          metrics.count[i],
          metrics.variance[i],
        ]).toEqual([value, value - 1, value + 1, value + 0.5, 4, 0.5]);
        expect([metrics.best[i], metrics.bestStep[i]]).toEqual(kind === "loss" ? [value - 1, 5] : [value + 1, 6]);
      });
    };
    const all = await read({ metricLimit: 1000 });
    expect(new Set(all.keys).size).toBe(1000);
    expect(all.keysTotal).toBe(1000n);
    expectAggregates(all);
    const few = await read({ metricLimit: 40, metricPrefix: "gain/" });
    expect(few.keys).toHaveLength(40);
    expect(few.keysTotal).toBe(500n);
    expectAggregates(few);
    const next = await read({ metricLimit: 40, metricPrefix: "gain/", metricCursor: few.nextCursor });
    expect(next.keys[0]! > few.keys[39]!).toBe(true);
    expect(next.keysTotal).toBe(500n);
    expectAggregates(next);
    const { runs } = await fixture.client.listRuns(
      { filter: {}, order: { sortBy: "created" }, limit: 1, offset: 0n },
      call,
    );
    expect(runs[0]!.metrics!.keys).toHaveLength(250);
    expect(runs[0]!.metrics!.keysTotal).toBe(1000n);
    expectAggregates(runs[0]!.metrics!);
  });
});

test.each(["x", "", "not-a-uuid", "{5b0c0000-0000-4000-8000-000000000000}"])("the id %j is 404", async (runId) => {
  const read = fixture.client.getRun({ runId, metricLimit: 1 }, callAs());
  expect(await failure(read)).toMatchObject({ reason: "not_found", message: "run not found" });
});

describe("keys in pages", () => {
  const call = callAs();
  let runId = "";
  const keys = ["a", "a/x", "a0", "b", "z", "é", "\u{10FFFF}", "\u{10FFFF}x"];
  beforeAll(async () => {
    ({ id: runId } = await makeRun(fixture.client, call));
    for (const key of keys.toReversed()) {
      await putAggregate(fixture, call.orgId, runId, key, { latest: 1 });
    }
  });

  const page = async (request: { metricPrefix?: string; metricLimit?: number; metricCursor?: string }) => {
    const { run } = await fixture.client.getRun({ runId, metricLimit: 1000, ...request }, call);
    if (run?.metrics === undefined) throw new Error("no metrics");
    return run.metrics;
  };

  test("follow each other in code point order and count the same total", async () => {
    const seen: string[] = [];
    let metricCursor = "";
    do {
      const metrics = await page({ metricLimit: 3, metricCursor });
      expect(metrics.keysTotal).toBe(BigInt(keys.length));
      expect(metrics.latest).toHaveLength(metrics.keys.length);
      seen.push(...metrics.keys);
      metricCursor = metrics.nextCursor;
    } while (metricCursor !== "");
    expect(seen).toEqual(keys);
  });

  test.each([
    ["a", ["a", "a/x", "a0"]],
    ["a/", ["a/x"]],
    ["\u{10FFFF}", ["\u{10FFFF}", "\u{10FFFF}x"]],
    ["%", []],
    ["", keys],
  ])("of those that start with %j", async (metricPrefix, expected) => {
    const metrics = await page({ metricPrefix });
    expect(metrics.keys).toEqual(expected);
    expect(metrics.keysTotal).toBe(BigInt(expected.length));
  });

  test("a page of a prefix continues within the prefix", async () => {
    const first = await page({ metricPrefix: "a", metricLimit: 2 });
    expect(first).toMatchObject({ keys: ["a", "a/x"], keysTotal: 3n });
    const second = await page({ metricPrefix: "a", metricLimit: 2, metricCursor: first.nextCursor });
    expect(second).toMatchObject({ keys: ["a0"], keysTotal: 3n, nextCursor: "" });
  });

  test("a key written meanwhile moves no page", async () => {
    const first = await page({ metricLimit: 4 });
    await putAggregate(fixture, call.orgId, runId, "A", { latest: 1 });
    const second = await page({ metricLimit: 4, metricCursor: first.nextCursor });
    expect(second.keys).toEqual(keys.slice(4));
  });

  test.each([
    ["a text that is not a cursor", { metricCursor: "***" }, "metric_cursor"],
    ["a cursor that is not UTF-8", { metricCursor: "_w" }, "metric_cursor"],
    ["a limit of 0", { metricLimit: 0 }, "metric_limit"],
    ["a limit of 1001", { metricLimit: 1001 }, "metric_limit"],
    ["a fault that the gateway found", { queryFault: { text: "no", field: "metric_limit" } }, "metric_limit"],
  ])("%s is 400, but 404 for a missing run", async (_what, request, field) => {
    const refused = fixture.client.getRun({ runId, metricLimit: 10, ...request }, call);
    expect(await failure(refused)).toMatchObject({ reason: "bad_request", field });
    const missing = fixture.client.getRun({ runId: randomUUID(), metricLimit: 10, ...request }, call);
    expect(await failure(missing)).toMatchObject({ reason: "not_found" });
  });
});

describe("reason and message of a stop", () => {
  const stopped = async (scopes: string[]) => {
    const call = callAs({ scopes });
    const { id } = await makeRun(fixture.client, call);
    await asOwner(
      fixture,
      `UPDATE runs.runs SET stop_state = 'requested', stop_request_id = id, stop_reason = 'nan loss', stop_actor = 'user'
       WHERE id = $1`,
      [id],
    );
    const { run } = await fixture.client.getRun({ runId: id, metricLimit: 1 }, call);
    return run?.runControl;
  };

  test("show to those who may read runs and stop them", async () => {
    const control = await stopped(["export:read", "runs:control"]);
    expect(control).toMatchObject({ stopState: "requested", actor: "user", details: { reason: "nan loss" } });
    expect(control?.details?.completionMessage).toBeUndefined();
  });

  test.each([[["export:read"]], [["runs:control"]], [["export:read", "sdk:ingest"]]])(
    "stay hidden from a caller with %j",
    async (scopes) => {
      const control = await stopped(scopes);
      expect(control).toMatchObject({ stopState: "requested", displayStatus: "stopping" });
      expect(control?.details).toBeUndefined();
    },
  );
});
