import { testSql } from "@tidemark/testkit";
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import type { MessageInitShape } from "@bufbuild/protobuf";

import type { AppendRankMetricsRequestSchema } from "@tidemark/proto/ingest/v1/rank_metrics";
import { callOf, columnsOf, startIngest, type IngestFixture, type Tenant } from "../ingest.fixture.ts";

// One file, because writes and summaries share one service and its ranks.

let ingest: IngestFixture;
let tenant: Tenant;
let runId: string;

beforeAll(async () => {
  ingest = await startIngest();
  tenant = await ingest.newTenant();
});
afterAll(() => ingest.close());
beforeEach(async () => {
  runId = await ingest.newRun(tenant);
});

type Report = {
  step?: number;
  rank?: number;
  worldSize?: number;
  localRank?: number;
  weight?: number;
  timestampUs?: number;
};
const requestOf = (metrics: Readonly<Record<string, number>>, report: Report = {}) =>
  ({
    runId,
    keys: Object.keys(metrics),
    values: Object.values(metrics),
    step: 0,
    rank: 0,
    worldSize: 2,
    localRank: report.rank ?? 0,
    weight: 1,
    ...report,
  }) satisfies MessageInitShape<typeof AppendRankMetricsRequestSchema>;
const write = (metrics: Readonly<Record<string, number>>, report?: Report) =>
  ingest.write.appendRankMetrics(requestOf(metrics, report), callOf(tenant));

type Query = { key?: string; startStep?: number; limit?: number };
const read = (query: Query = {}) => ingest.read.summariseRankMetrics({ runId, limit: 1000, ...query }, callOf(tenant));
/** [step, rank, value] of each cell. */
const cells = async (query?: Query) => {
  const { heatmap } = await read(query);
  const { steps, ranks, values } = heatmap!;
  return steps.map((step, i) => [step, ranks[i], values[i]]);
};

describe("a write of rank metrics", () => {
  test("answers how many values it stored, which the next read shows", async () => {
    expect(await write({ acc: 0.5, loss: 2 }, { step: 4, rank: 1 })).toMatchObject({ inserted: 2, replayed: false });
    expect(await read()).toMatchObject({ keys: ["acc", "loss"], key: "acc" });
    expect(await cells()).toEqual([[4, 1, 0.5]]);
    expect(await cells({ key: "loss" })).toEqual([[4, 1, 2]]);
  });

  test("stores every bit of a value", async () => {
    const values = [-0, 5e-324, -Number.MAX_VALUE, 0.1];
    for (const [step, value] of values.entries()) await write({ a: value }, { step });
    const found = await cells();
    expect(found.map(([, , value]) => Object.is(value, values[0]))).toEqual([true, false, false, false]);
    expect(found.map(([, , value]) => value)).toEqual(values);
  });

  test("takes steps, weights and times at the ends of their ranges", async () => {
    const lastUs = Date.UTC(9999, 11, 31) * 1000;
    await write({ a: 1 }, { step: 5e-324, weight: 5e-324, timestampUs: lastUs });
    await write({ a: 2 }, { step: Number.MAX_VALUE, weight: Number.MAX_VALUE, timestampUs: -62_135_596_800_000_000 });
    expect((await read()).steps).toMatchObject({ steps: [5e-324, Number.MAX_VALUE], weightedMeans: [1, 2] });
  });

  test("with other keys leaves alone what it does not have, whichever came first", async () => {
    await write({ a: 1, b: 1 });
    await write({ b: 2, c: 2 });
    await write({ a: 3 });
    expect([await cells({ key: "a" }), await cells({ key: "b" }), await cells({ key: "c" })]).toEqual([
      [[0, 0, 3]],
      [[0, 0, 2]],
      [[0, 0, 2]],
    ]);
    await write({ a: 4, b: 4 });
    expect([await cells({ key: "a" }), await cells({ key: "b" })]).toEqual([[[0, 0, 4]], [[0, 0, 4]]]);
  });

  test("with another world size replaces the one before too", async () => {
    await write({ a: 1 }, { worldSize: 4 });
    await write({ a: 2 }, { worldSize: 2 });
    expect(await cells()).toEqual([[0, 0, 2]]);
    expect((await read()).steps).toMatchObject({ expectedWorldSizes: [2], worldSizeMismatches: [false] });
  });

  test("takes 1,000 keys of 512 bytes", async () => {
    const keys = Array.from({ length: 1000 }, (_, i) => String(i).padStart(512, "0"));
    expect(await write(Object.fromEntries(keys.map((key, i) => [key, i])))).toMatchObject({ inserted: 1000 });
    expect((await read()).keys).toEqual(keys.slice(0, 200));
    for (const i of [0, 63, 64, 999]) expect(await cells({ key: keys[i]! })).toEqual([[0, 0, i]]);
  });

  test("continues after the run has finished", async () => {
    await ingest.finishRun(runId);
    expect(await write({ a: 1 })).toMatchObject({ inserted: 1 });
  });

  test("of many ranks simultaneously, also of new keys, is complete", async () => {
    const ranks = Array.from({ length: 16 }, (_, rank) => rank);
    await Promise.all(ranks.map((rank) => write({ a: rank, [`rank${rank % 4}`]: rank }, { rank, worldSize: 16 })));
    expect(await cells({ key: "a" })).toEqual(ranks.map((rank) => [0, rank, rank]));
    expect(await cells({ key: "rank3" })).toEqual([3, 7, 11, 15].map((rank) => [0, rank, rank]));
  });

  test("of 512 ranks that all begin simultaneously is complete, through two processes with ten connections", async () => {
    const other = ingest.writer();
    const ranks = Array.from({ length: 512 }, (_, rank) => rank);
    const answers = await Promise.all(
      ranks.map((rank) =>
        (rank % 2 === 0 ? ingest.write : other).appendRankMetrics(
          requestOf({ a: rank, b: 0 }, { rank, worldSize: 512 }),
          callOf(tenant),
        ),
      ),
    );
    expect(new Set(answers.map(({ inserted }) => inserted))).toEqual(new Set([2]));
    expect(await cells({ key: "a" })).toEqual(ranks.map((rank) => [0, rank, rank]));
  });

  test("never shows among the run's own metrics, nor they among rank metrics", async () => {
    await write({ a: 1 });
    await ingest.write.appendMetrics({ runId, columns: columnsOf([0, { b: 1 }]) }, callOf(tenant));
    expect((await ingest.read.listMetricPoints({ runId, limit: 10 }, callOf(tenant))).keys).toMatchObject([
      { key: "b" },
    ]);
    const { series } = await ingest.read.queryMetricSeries({ keys: ["a"], runIds: [runId], limit: 10 }, callOf(tenant));
    expect(series[0]!.points!.steps).toHaveLength(0);
    expect(await read()).toMatchObject({ keys: ["a"] });
  });

  test("with a key is stored once, however often and simultaneously it is sent", async () => {
    const request = { ...requestOf({ a: 1, b: 2 }), idempotencyKey: randomUUID() };
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => ingest.write.appendRankMetrics(request, callOf(tenant))),
    );
    expect(answers.map(({ inserted }) => inserted)).toEqual(Array.from({ length: 10 }, () => 2));
    expect(answers.filter(({ replayed }) => replayed)).toHaveLength(9);
    expect(await ingest.writer().appendRankMetrics(request, callOf(tenant))).toMatchObject({
      inserted: 2,
      replayed: true,
    });
  });

  test("with a key does not take back what came in between", async () => {
    const request = { ...requestOf({ a: 1 }), idempotencyKey: randomUUID() };
    await ingest.write.appendRankMetrics(request, callOf(tenant));
    await write({ a: 2 });
    await ingest.write.appendRankMetrics(request, callOf(tenant));
    expect(await cells()).toEqual([[0, 0, 2]]);
  });

  test.each<[string, object]>([
    ["another value", { values: [2] }],
    ["another metric", { keys: ["b"] }],
    ["another step", { step: 1 }],
    ["another rank", { rank: 1 }],
    ["another world size", { worldSize: 3 }],
    ["another local rank", { localRank: 1 }],
    ["another weight", { weight: 2 }],
    ["a time", { timestampUs: 1 }],
  ])("with a key is refused when the key is sent with %s, and leaves nothing behind", async (_, change) => {
    const request = { ...requestOf({ a: 1 }), idempotencyKey: randomUUID() };
    await ingest.write.appendRankMetrics(request, callOf(tenant));
    await expect(ingest.write.appendRankMetrics({ ...request, ...change }, callOf(tenant))).rejects.toMatchObject({
      reason: "idempotency_key_reused",
    });
    expect(await read()).toMatchObject({ keys: ["a"] });
    expect(await cells()).toEqual([[0, 0, 1]]);
  });

  test("with a key that served another route is refused", async () => {
    const idempotencyKey = randomUUID();
    await ingest.write.appendMetrics({ runId, idempotencyKey, columns: columnsOf([0, { a: 1 }]) }, callOf(tenant));
    await expect(
      ingest.write.appendRankMetrics({ ...requestOf({ a: 1 }), idempotencyKey }, callOf(tenant)),
    ).rejects.toMatchObject({ reason: "idempotency_key_reused" });
  });
});

describe("the markers of a write of rank metrics", () => {
  const marked = testSql(
    "SELECT part, count(*) AS markers FROM ingest.dirty_markers WHERE run_id = $1 AND kind = 'ranks' GROUP BY part ORDER BY part",
  );
  const markers = () => ingest.owner.rows<{ part: string; markers: number }>(marked, [runId]);
  /** Every write is to leave a marker; forgotten markers are recorded. */
  const writerOf = (forgotten: string[]) =>
    ingest.writer(undefined, { rankMarkers: { next: () => 5, forget: (what) => void forgotten.push(what) } });

  test("are one for each set of keys that got a row", async () => {
    const forgotten: string[] = [];
    const keys = Array.from({ length: 65 }, (_, i) => `k${i}`);
    const request = { ...requestOf({}), keys, values: keys.map(() => 1) };
    await writerOf(forgotten).appendRankMetrics(request, callOf(tenant));
    expect(await markers()).toEqual([
      { part: "0", markers: 1 },
      { part: "1", markers: 1 },
    ]);
    expect(forgotten).toEqual([]);
  });

  test("are none where nothing was stored, which the next write makes up for", async () => {
    const forgotten: string[] = [];
    const writer = writerOf(forgotten);
    const request = { ...requestOf({ a: 1 }), idempotencyKey: randomUUID() };
    await writer.appendRankMetrics(request, callOf(tenant));
    expect(await writer.appendRankMetrics(request, callOf(tenant))).toMatchObject({ replayed: true });
    expect(await markers()).toEqual([{ part: "0", markers: 1 }]);
    expect(forgotten).toEqual([`${runId}/0`]);
    const another = { ...requestOf({ a: 2 }), idempotencyKey: request.idempotencyKey };
    await expect(writer.appendRankMetrics(another, callOf(tenant))).rejects.toMatchObject({
      reason: "idempotency_key_reused",
    });
    expect(await markers()).toEqual([{ part: "0", markers: 1 }]);
    expect(forgotten).toHaveLength(2);
  });
});

describe("a summary", () => {
  test("of a run without rank metrics has no key and nothing else", async () => {
    expect(await read()).toMatchObject({ keys: [], stepLimit: 1000, heatmap: { steps: [] }, steps: { steps: [] } });
    expect((await read()).key).toBeUndefined();
  });

  test("of a key that the run does not have names it, and is empty", async () => {
    await write({ a: 1 });
    expect(await read({ key: "b" })).toMatchObject({ keys: ["b"], key: "b", stepLimit: 1000, steps: { steps: [] } });
  });

  test("of steps that the key does not have is empty, and names the keys of the whole run", async () => {
    await write({ a: 1, b: 1 }, { step: 5, worldSize: 512 });
    expect(await read({ startStep: 6 })).toMatchObject({
      keys: ["a", "b"],
      key: "a",
      stepLimit: 1000,
      steps: { steps: [] },
    });
  });

  test("takes the first key by its bytes, and names the one that was requested alone", async () => {
    await write({ é: 1, Z: 2, a: 3 });
    expect(await read()).toMatchObject({ keys: ["Z", "a", "é"], key: "Z" });
    expect(await read({ key: "a" })).toMatchObject({ keys: ["a"], key: "a" });
  });

  test("of a key that is rarely reported finds its steps among those of the others", async () => {
    for (let step = 0; step < 40; step++) {
      await write(step % 10 === 0 ? { loss: step, "eval/loss": step } : { loss: step }, { step });
    }
    expect((await read({ key: "eval/loss", limit: 3 })).steps!.steps).toEqual([10, 20, 30]);
    expect((await read({ key: "loss", limit: 3 })).steps!.steps).toEqual([37, 38, 39]);
    expect((await read({ key: "loss" })).steps!.steps).toHaveLength(40);
  });

  test("joins ranks that report other keys besides the common one", async () => {
    const ranks = Array.from({ length: 12 }, (_, rank) => rank);
    for (const step of [0, 1, 2]) {
      await Promise.all(
        ranks.map((rank) => write({ [`gpu${rank}`]: 1, loss: 100 * step + rank }, { step, rank, worldSize: 12 })),
      );
    }
    expect(await cells({ key: "loss", limit: 2 })).toEqual(
      [1, 2].flatMap((step) => ranks.map((rank) => [step, rank, 100 * step + rank])),
    );
  });

  test.each([
    [512, 128],
    [511, 128],
    [65, 1000],
    [66, 992],
    [1, 1000],
  ])("of a world of %i ranks has at most %i steps of 1,000 requested", async (worldSize, stepLimit) => {
    await write({ a: 1 }, { worldSize });
    expect((await read()).stepLimit).toBe(stepLimit);
  });

  test("counts the world size of the steps that were requested only", async () => {
    await write({ a: 1 }, { step: 0, worldSize: 512 });
    await write({ a: 1 }, { step: 1, worldSize: 256 });
    await write({ b: 1 }, { step: 2, worldSize: 512 });
    expect((await read({ key: "a" })).stepLimit).toBe(128);
    expect((await read({ key: "a", startStep: 1 })).stepLimit).toBe(256);
  });

  test("of ranks that disagree about the world expects the largest, and says so", async () => {
    await write({ a: 1 }, { rank: 0, worldSize: 2 });
    await write({ a: 3 }, { rank: 2, worldSize: 4, weight: 3 });
    expect((await read()).steps).toMatchObject({
      rankCounts: [2],
      expectedWorldSizes: [4],
      worldSizeMismatches: [true],
      means: [2],
      weightedMeans: [2.5],
      stddevs: [1],
      missingRanks: [1, 3],
    });
  });
});

describe("a run that is not the caller's to see", () => {
  test.each([
    ["does not exist", () => randomUUID()],
    ["has an id that is not a UUID", () => "x"],
    ["is another organization's", async () => ingest.newRun(await ingest.newTenant())],
    ["lies in another project", async () => ingest.newRun(tenant, await ingest.newProject(tenant.orgId))],
  ])("because it %s is not found, by reads and by writes, even with other faults", async (_, idOf) => {
    const hidden = await idOf();
    const call = callOf(tenant, tenant.projectId);
    const notFound = { reason: "not_found", message: "run not found" };
    for (const query of [{ limit: 1 }, { queryFault: { text: "no", field: "limit" } }]) {
      await expect(ingest.read.summariseRankMetrics({ runId: hidden, ...query }, call)).rejects.toMatchObject(notFound);
    }
    const request = { ...requestOf({ a: 1 }), runId: hidden };
    await expect(ingest.write.appendRankMetrics(request, call)).rejects.toMatchObject(notFound);
    const bodyFault = { text: "rank is required", field: "rank" };
    await expect(ingest.write.appendRankMetrics({ runId: hidden, bodyFault }, call)).rejects.toMatchObject(notFound);
  });
});

test.each<[string, object, string, string]>([
  ["no key", { keys: [], values: [] }, "metrics", "metrics must have 1 to 1000 keys"],
  [
    "1,001 keys",
    { keys: Array.from({ length: 1001 }, String), values: Array.from({ length: 1001 }, () => 1) },
    "metrics",
    "metrics must have 1 to 1000 keys",
  ],
  ["a key without a value", { keys: ["a", "b"] }, "metrics", "metrics must have a value for each key"],
  ["a key that occurs twice", { keys: ["a", "a"], values: [1, 2] }, "metrics", "metrics must have distinct keys"],
  ["a negative step", { step: -1 }, "step", "step must be a finite number of at least 0"],
  ["a step that is not a number", { step: NaN }, "step", "step must be a finite number of at least 0"],
  ["no world", { worldSize: 0 }, "world_size", "world_size must be from 1 to 512"],
  ["a world of 513", { worldSize: 513 }, "world_size", "world_size must be from 1 to 512"],
  ["a rank outside its world", { rank: 2 }, "rank", "rank must be below world_size"],
  ["a local rank outside its world", { localRank: 2 }, "local_rank", "local_rank must be below world_size"],
  ["a weight of 0", { weight: 0 }, "weight", "weight must be a finite number above 0"],
  ["an infinite weight", { weight: Infinity }, "weight", "weight must be a finite number above 0"],
])("%s is refused", async (_, change, field, message) => {
  await expect(
    ingest.write.appendRankMetrics({ ...requestOf({ a: 1 }), ...change }, callOf(tenant)),
  ).rejects.toMatchObject({ reason: "bad_request", message, field });
});
